"""Rounds in Kueue mode against a scheduler written a second time, from the rules alone.

Worlds of random quota trees, flavors, policies, gates, running and pending workloads are decided
twice, round after round: victims with their reasons, flavors, messages and who is tried next must
be the same, and so must usage and shares. In rich worlds workloads are also kept from being judged,
or have pods that are over; in every other one victims give their quota back between rounds and
queue again.
"""

import pytest

from queueing.core.decisions import Admit, Cycle, Mode, Place, Preempt, Strand, Wait
from queueing.core.names import FlavorResource
from queueing.reports import queues as reports
from queueing.sim.world import SimulatedCluster
from tests.core.rounds.letter_of_cycles import Answer, Cycles, Flavors
from tests.core.rounds.random_cases import NOW, Case, case_of
from tests.core.rounds.rich_cases import rich_case_of

ROUNDS = 4
FEW, MANY = 96, 2_096
SEEDS = pytest.mark.parametrize(
    "seeds",
    [
        *(range(first, first + 16) for first in range(0, FEW, 16)),
        *(
            pytest.param(range(first, first + 100), marks=pytest.mark.slow)
            for first in range(FEW, MANY, 100)
        ),
    ],
    ids=lambda seeds: f"from {seeds.start}",
)
TOLD = {Mode.NO_FIT, Mode.NO_CANDIDATES, Mode.PREEMPT}
"""Modes whose message says which quota is missing."""


def answers(cycle: Cycle, heads: set[str]) -> tuple[list[Answer], list[tuple[str, str]]]:
    """Spell what the engine decided as the letter does."""
    victims: dict[str, list[tuple[str, str]]] = {}
    spelled: list[Answer] = []
    others: list[tuple[str, str]] = []
    for one in cycle.decisions:
        if isinstance(one, Preempt):
            victims.setdefault(one.preemptor, []).append((one.workload, str(one.reason)))
        elif isinstance(one, Admit):
            spelled.append(
                Answer(
                    one.workload,
                    "",
                    flavors=flavors(one),
                    borrowing=one.borrowing,
                    only_reserves=bool(one.checks),
                )
            )
        elif isinstance(one, Place | Strand):
            pytest.fail(f"nobody has pods to place: {one}")
        elif one.workload not in heads or one.mode is None:
            others.append((one.workload, str(one.requeue)))
        else:
            spelled.append(
                Answer(
                    one.workload,
                    str(one.mode),
                    str(one.requeue),
                    flavors=() if one.mode is Mode.NO_FIT else flavors(one),
                    victims=tuple(sorted(victims.get(one.workload, []))),
                    message=one.message if one.mode in TOLD else "",
                    reason=str(one.reason) if one.mode is Mode.NO_FIT else "",
                )
            )
    return sorted(spelled), sorted(others)


def flavors(one: Admit | Wait) -> Flavors:
    pod_sets = one.pod_sets if isinstance(one, Admit) else one.nominated
    return tuple(
        (given.name, given.count, tuple(sorted((str(a), str(b)) for a, b in given.flavors.items())))
        for given in pod_sets
    )


def charged(world: SimulatedCluster) -> dict[str, dict[FlavorResource, int]]:
    return {
        name: {one: amount for one, amount in amounts.items() if amount}
        for name, amounts in world.usage().items()
    }


def shares(world: SimulatedCluster) -> dict[str, int]:
    views = {name: reports.cluster_queue(world.engine.memory, name) for name in world.queues}
    return {name: view.weighted_share for name, view in views.items() if view is not None}


def compare(case: Case, seed: int, *, drains: bool = False) -> None:
    world, letter = SimulatedCluster(case.facts, settings=case.settings), Cycles(case)
    for number in range(1, ROUNDS + 1):
        want, others = letter.round()
        found = answers(world.round(NOW), {one.workload for one in want})
        assert found == (want, others), f"seed {seed}, round {number}"
        assert charged(world) == letter.usage(), f"seed {seed}, round {number}"
        if case.settings.fair_sharing is not None:
            assert shares(world) == letter.shares(), f"seed {seed}, round {number}"
        if drains:
            world.drain(NOW)
            letter.drain()


@SEEDS
def test_rounds_decide_as_the_rules_say(seeds: range) -> None:
    for seed in seeds:
        compare(case_of(seed), seed)


@SEEDS
def test_rounds_heed_who_may_not_be_judged_and_what_is_over(seeds: range) -> None:
    for seed in seeds:
        compare(rich_case_of(seed), seed, drains=seed % 2 > 0)
