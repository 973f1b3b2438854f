"""Rounds in Kueue mode against a scheduler written a second time, from the rules alone.

Worlds of random quota trees, flavors, policies, gates, running and pending workloads are decided
twice, round after round: victims with their reasons, flavors, messages and who is tried next must
be the same.
"""

import pytest

from queueing.core.decisions import Admit, Cycle, Mode, Preempt, Wait
from queueing.sim.world import World
from tests.core.rounds.letter_of_cycles import Answer, Cycles, Flavors
from tests.core.rounds.random_cases import NOW, case_of

ROUNDS = 4
FEW, MANY = 16, 2_016
CHUNK = 100
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
            spelled.append(Answer(one.workload, "", flavors=flavors(one), borrowing=one.borrowing))
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
                )
            )
    return sorted(spelled), sorted(others)


def flavors(one: Admit | Wait) -> Flavors:
    pod_sets = one.pod_sets if isinstance(one, Admit) else one.nominated
    return tuple(
        (given.name, given.count, tuple(sorted((str(a), str(b)) for a, b in given.flavors.items())))
        for given in pod_sets
    )


def compare(seed: int) -> None:
    case = case_of(seed)
    world, letter = World(case.facts, settings=case.settings), Cycles(case)
    for number in range(1, ROUNDS + 1):
        want, others = letter.round()
        found = answers(world.round(NOW), {one.workload for one in want})
        assert found == (want, others), f"seed {seed}, round {number}"


@pytest.mark.parametrize("seed", range(FEW))
def test_rounds_decide_as_the_rules_say(seed: int) -> None:
    compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, MANY, CHUNK))
def test_many_rounds_decide_as_the_rules_say(first: int) -> None:
    for seed in range(first, first + CHUNK):
        compare(seed)
