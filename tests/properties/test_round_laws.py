"""Laws of a round, over small random worlds with lending, borrowing, cohorts and preemption."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.decisions import Admit, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    PreemptionPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorPolicy, FlavorPreference, Fungibility, Quota
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import QuotaNode
from queueing.core.settings import FairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, cohort, quota, workload
from queueing.testing.builders import preemption as policies
from queueing.testing.trees import picture
from tests.lengths import lengths

NAMES = ("a", "b", "d", "e")
FLAVORS = ("one", "two")
RESOURCES = [FlavorResource(FlavorName(name), ResourceName("cpu")) for name in FLAVORS]
FEW = settings(max_examples=20, derandomize=True, deadline=None)
MANY = settings(max_examples=500, deadline=None)
NEVER, LOWER = PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY
NEWER, ANY = PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY, PreemptionPolicy.ANY


@dataclass(frozen=True)
class World:
    facts: tuple[ClusterQueueFact | CohortFact | WorkloadFact, ...]
    heads: tuple[WorkloadFact, ...]

    def arena(self, fair: FairSharing | None = None) -> Arena:
        return Arena(*self.facts, settings=Settings(fair_sharing=fair))


def _quota(nominal: int, borrowing: int | None, lending: int | None) -> Quota:
    return quota(
        nominal, borrowing=borrowing, lending=None if lending is None else min(lending, nominal)
    )


@st.composite
def queue_facts(draw: st.DrawFn, name: str) -> ClusterQueueFact:
    limits = st.one_of(st.none(), st.integers(0, 6))
    quotas = {
        flavor: {"cpu": _quota(draw(st.integers(0, 8)), draw(limits), draw(limits))}
        for flavor in draw(st.sampled_from((("one",), ("one", "two"), ("two", "one"))))
    }
    parent = draw(st.sampled_from((None, "left", "left", "right")))
    return cluster_queue(
        name,
        quotas,
        cohort=parent,
        strategy=draw(st.sampled_from(Strategy)),
        fungibility=Fungibility(
            when_can_borrow=draw(st.sampled_from(FlavorPolicy)),
            when_can_preempt=draw(st.sampled_from(FlavorPolicy)),
            preference=draw(st.sampled_from(FlavorPreference)),
        ),
        preemption=policies(
            within=draw(st.sampled_from((NEVER, LOWER, NEWER))),
            reclaim=draw(st.sampled_from((NEVER, LOWER, ANY))),
            borrow=draw(st.sampled_from((NEVER, LOWER))),
            threshold=draw(st.one_of(st.none(), st.integers(0, 2))),
        ),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    queues = [draw(queue_facts(name)) for name in NAMES]
    cohorts = (
        cohort("left", "top", quotas={"one": {"cpu": draw(st.integers(0, 4))}}),
        cohort("right", "top"),
    )
    held = []
    arena = Arena(*queues, *cohorts)
    for number in range(draw(st.integers(0, 10))):
        name = draw(st.sampled_from(NAMES))
        flavor = draw(st.sampled_from(FLAVORS))
        amount = draw(st.integers(1, 4))
        node = arena.tree.queue(QueueName(name))
        resource = FlavorResource(FlavorName(flavor), ResourceName("cpu"))
        if amount <= node.available(resource):
            arena.tree.add_usage(QueueName(name), {resource: amount})
            held.append(
                admitted(
                    f"held-{number}",
                    {"cpu": amount},
                    queue=name,
                    flavor=flavor,
                    priority=draw(st.integers(0, 3)),
                    created=float(number),
                )
            )
    heads = tuple(
        workload(
            f"head-{name}",
            {"cpu": draw(st.integers(1, 3))},
            draw(st.integers(1, 3)),
            local_queue=f"team/{name}",
            priority=draw(st.integers(0, 3)),
            created=float(draw(st.integers(20, 23))),
        )
        for name in NAMES
    )
    return World((*queues, *cohorts, *held), heads)


def nodes(arena: Arena) -> list[QuotaNode]:
    queues = [arena.tree.queue(QueueName(name)) for name in NAMES]
    above = [cohort for queue in queues for cohort in queue.ancestors()]
    return list(dict.fromkeys([*queues, *above]))


def overspent(arena: Arena) -> list[str]:
    """Name every node that uses more than its root has or its borrowing limit allows."""
    found = []
    for node in nodes(arena):
        for resource in RESOURCES:
            cell = node.cell(resource)
            limit = cell.limits.borrowing_limit
            most = None if limit is None else cell.quota + limit
            for used in (cell.usage, cell.held):
                if node.parent is None and used > cell.quota:
                    found.append(f"{node.path()} {resource}: {used} of {cell.quota}")
                if node.parent is not None and most is not None and used > most:
                    found.append(f"{node.path()} {resource}: {used} > {most}")
    return found


def fits(arena: Arena, judgement: Ruling, *, borrowing: bool) -> bool:
    node = arena.tree.queue(judgement.head.queue)
    return all(
        amount <= node.available(one) and (borrowing or not node.borrowing_with(one, amount))
        for one, amount in judgement.entry.usage.items()
    )


def check_no_over_admission(world: World, fair: FairSharing | None) -> None:
    arena = world.arena(fair)
    arena.round(*world.heads)
    assert overspent(arena) == []


def check_victims_are_needed(world: World, fair: FairSharing | None) -> None:
    for head in world.heads:
        arena = world.arena(fair)
        [judgement] = arena.round(head)
        if not judgement.preemptions:
            continue
        holders = {one.key: one for held in arena.held.values() for one in held.values()}
        victims = [holders[one.workload] for one in judgement.preemptions]
        assert not fits(arena, judgement, borrowing=True)
        for victim in victims:
            arena.tree.remove_usage(victim.queue, victim.usage)
        assert fits(arena, judgement, borrowing=True)
        borrowing = not fits(arena, judgement, borrowing=False)
        for victim in victims:
            with arena.tree.attempt():
                arena.tree.add_usage(victim.queue, victim.usage)
                assert not fits(arena, judgement, borrowing=borrowing)


def check_order_of_arrival_is_irrelevant(world: World, fair: FairSharing | None) -> None:
    forward = world.arena(fair).round(*world.heads)
    backward = replace(world, facts=tuple(reversed(world.facts)))
    again = backward.arena(fair).round(*reversed(world.heads))
    assert [one.decision for one in forward] == [one.decision for one in again]
    assert [one.preemptions for one in forward] == [one.preemptions for one in again]


def check_only_admissions_are_charged(world: World, fair: FairSharing | None) -> None:
    arena, bare = world.arena(fair), world.arena(fair)
    judgements = arena.round(*world.heads)
    for one in judgements:
        if isinstance(one.decision, Admit):
            bare.tree.add_usage(one.head.queue, one.entry.usage)
            bare.tree.hold(one.head.queue, one.entry.usage)
    assert picture(arena.tree) == picture(bare.tree)


def check_every_head_is_decided_once(world: World, fair: FairSharing | None) -> None:
    """Or is to be judged again, where others of its tree were decided."""
    arena = world.arena(fair)
    judgements = arena.round(*world.heads)
    decided = [one.head.workload.key for one in judgements]
    assert len(decided) == len(set(decided))
    moved = {arena.tree.queue(one.head.queue).root for one in judgements}
    for head in (arena.head(one) for one in world.heads if one.key not in decided):
        assert arena.tree.queue(head.queue).root in moved
    taken: list[str] = []
    for one in judgements:
        if isinstance(one.decision, Wait):
            assert one.decision.message
            assert len(one.decision.targets) == len(one.preemptions) or not one.preemptions
        taken += [preempt.uid for preempt in one.preemptions]
    assert len(taken) == len(set(taken))


Law = Callable[[World, FairSharing | None], None]
CHECKS: dict[str, Law] = {
    "no over-admission": check_no_over_admission,
    "every victim is needed": check_victims_are_needed,
    "the same facts give the same decisions": check_order_of_arrival_is_irrelevant,
    "only admissions are charged": check_only_admissions_are_charged,
    "every head is decided once": check_every_head_is_decided_once,
}
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
MODES = {"classical": None, "fair sharing": FAIR}
# By shares a victim may be needed for the others to be fair ones, beside room: the laws of victim
# sets (tests/core/preemption) say so of any tree.
ELSEWHERE = {("every victim is needed", "fair sharing")}
LAWS = [
    pytest.param(law, fair, id=f"{name}-{mode}")
    for name, law in CHECKS.items()
    for mode, fair in MODES.items()
    if (name, mode) not in ELSEWHERE
]


@lengths("tries", FEW, MANY)
@pytest.mark.parametrize(("law", "fair"), LAWS)
def test_a_round(tries: settings, law: Law, fair: FairSharing | None) -> None:
    @tries
    @given(worlds())
    def run(world: World) -> None:
        law(world, fair)

    run()
