"""Laws of victim sets: enough, minimal, and fair; in any tree, by any policy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.fair_sharing.preemption import fair_targets
from queueing.core.fair_sharing.shares import Shares
from queueing.core.fair_sharing.sparing import below_common
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.preemption.candidates import Candidates, Variant
from queueing.core.preemption.classical import classical_targets
from queueing.core.preemption.query import Preemptor, Query, Target
from queueing.core.quota.node import QuotaNode
from queueing.core.settings import FairSharing
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, cohort, preemption, quota, workload
from queueing.testing.trees import picture
from tests.lengths import lengths

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
GPU = FlavorResource(FlavorName("default"), ResourceName("gpu"))
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
NEVER = PreemptionPolicy.NEVER
BY_SHARE = PreemptionReason.IN_COHORT_FAIR_SHARING
BY_RIGHT = PreemptionReason.IN_COHORT_RECLAMATION
FEW = settings(max_examples=40, deadline=None, derandomize=True)
TRIES = lengths("tries", FEW, settings(max_examples=500, deadline=None))

policies = st.builds(
    preemption,
    within=st.sampled_from(PreemptionPolicy),
    reclaim=st.sampled_from(
        [PreemptionPolicy.ANY, PreemptionPolicy.ANY, PreemptionPolicy.LOWER_PRIORITY]
    ),
    borrow=st.sampled_from([NEVER, PreemptionPolicy.LOWER_PRIORITY]),
    threshold=st.none() | st.integers(0, 2),
)
rules = st.builds(
    FairSharing,
    strategies=st.sampled_from([(FINAL, INITIAL), (FINAL,), (INITIAL,)]),
    preempt_within_nominal=st.booleans(),
)
amounts = st.fixed_dictionaries({"cpu": st.integers(1, 6)}, optional={"gpu": st.integers(1, 3)})
weights = st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(0)])


@dataclass(frozen=True, slots=True)
class World:
    """Queues in a tree, what runs in them, and a head that does not fit."""

    arena: Arena
    query: Query


@st.composite
def trees(draw: st.DrawFn, *, flat: bool) -> list[ClusterQueueFact | CohortFact]:
    made: list[ClusterQueueFact | CohortFact] = []
    parents = ["top"]
    if not flat:
        made += [cohort("left", "top", fair_weight=draw(weights)), cohort("right", "top")]
        made.append(cohort("deep", "left"))
        parents = ["top", "left", "right", "deep"]
    limits = st.none() if flat else st.none() | st.integers(0, 6)
    for name in "abcd":
        table = {
            one: quota(draw(st.integers(0, 6)), borrowing=draw(limits)) for one in ("cpu", "gpu")
        }
        made.append(
            cluster_queue(
                name,
                {"default": table},
                cohort=draw(st.sampled_from(parents)),
                preemption=draw(policies),
                fair_weight=draw(weights),
            )
        )
    return made


@st.composite
def worlds(draw: st.DrawFn, *, flat: bool = False, simple: bool = False) -> World:
    """Draw a tree, up to ten running workloads, and a head in queue a."""
    facts = draw(trees(flat=flat))
    asked = st.fixed_dictionaries({"cpu": st.integers(1, 6)}) if simple else amounts
    running: list[WorkloadFact] = [
        admitted(
            f"{queue}-{number}",
            draw(asked),
            queue=queue,
            priority=draw(st.integers(0, 2)),
            created=float(draw(st.integers(0, 3))),
        )
        for number, queue in enumerate(
            draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=12))
        )
    ]
    arena = Arena(*facts, *running)
    node = arena.tree.queue(QueueName("a"))
    requests = {CPU: node.available(CPU) + draw(st.integers(1, 5))}
    if not simple and draw(st.booleans()):
        requests[GPU] = draw(st.integers(1, 3))
    contested = [one for one, amount in requests.items() if amount > node.available(one)]
    fact = next(one for one in facts if one.name == "a")
    assert isinstance(fact, ClusterQueueFact)
    preemptor = Preemptor(
        priority=draw(st.integers(0, 3)),
        timestamp=1.5,
        node=node,
        policies=fact.preemption,
        thorough=True,
    )
    return World(arena, Query(preemptor, requests, contested))


def fits(world: World, victims: Iterable[Holder], *, borrowing: bool = True) -> bool:
    node, tree = world.query.preemptor.node, world.arena.tree
    with tree.attempt():
        for one in victims:
            tree.remove_usage(one.queue, one.usage)
        return all(
            amount <= node.available(one) and (borrowing or not node.borrowing_with(one, amount))
            for one, amount in world.query.requests.items()
        )


def without_each(targets: Sequence[Target]) -> list[list[Target]]:
    return [[*targets[:at], *targets[at + 1 :]] for at in range(len(targets))]


def is_fair(world: World, targets: Sequence[Target], fair: FairSharing) -> bool:
    """Judge a victim set by the words of the rules: fits, by right or by shares."""
    tree, own = world.arena.tree, world.query.preemptor.node
    if not fits(world, [one.holder for one in targets]):
        return False
    with tree.attempt():
        tree.add_usage(QueueName("a"), world.query.requests)
        by_right = not own.borrows(world.query.contested)
        for one in targets:
            tree.remove_usage(one.holder.queue, one.holder.usage)
        if by_right and fair.preempt_within_nominal:
            return True
        if any(one.reason is BY_RIGHT for one in targets):
            return False
        return all(_by_share(world, one.holder, fair) for one in targets if one.reason is BY_SHARE)


def _by_share(world: World, victim: Holder, fair: FairSharing) -> bool:
    tree = world.arena.tree
    queue: QuotaNode = tree.queue(victim.queue)
    mine, theirs = below_common(world.query.preemptor.node, queue)
    new, after = Shares().of(mine), Shares().of(theirs)
    with tree.attempt():
        tree.add_usage(victim.queue, victim.usage)
        before = Shares().of(theirs)
    return (FINAL in fair.strategies and new <= after) or (
        INITIAL in fair.strategies and new < before
    )


def check_minimal(world: World) -> None:
    targets = classical_targets(world.query, world.arena.tree, world.arena)
    variants = {one.holder.uid: one.variant for one in Candidates(world.query, world.arena)}

    def allowed(some: Sequence[Target]) -> bool:
        bound = any(variants[one.holder.uid] is Variant.RECLAIM_WITHOUT_BORROWING for one in some)
        return fits(world, [one.holder for one in some], borrowing=not bound)

    assert not targets or allowed(targets)
    assert not any(map(allowed, without_each(targets)))


def check_minimal_and_fair(world: World, fair: FairSharing) -> None:
    targets = fair_targets(world.query, world.arena.tree, world.arena, settings=fair)
    assert not targets or is_fair(world, targets, fair)
    assert not any(is_fair(world, some, fair) for some in without_each(targets))


def check_no_answer(world: World, fair: FairSharing) -> None:
    arena, query = world.arena, world.query
    targets = fair_targets(query, arena.tree, arena, settings=fair)
    for one in targets:
        arena.release(one.holder.key)
    new = workload("new", {"cpu": query.requests[CPU]}, priority=query.preemptor.priority)
    arena.hold(
        Holder(
            key=new.key,
            uid=new.uid,
            queue=QueueName("a"),
            local_queue=None,
            priority=new.priority,
            timestamp=1.5,
            reserved_at=9.0,
            evicted=False,
            usage=query.requests,
        )
    )
    for one in targets:
        if one.reason is BY_SHARE:
            assert new.uid not in _answer(arena, one.holder, fair)


def _answer(arena: Arena, victim: Holder, fair: FairSharing) -> set[str]:
    """Return whom a victim would preempt if it could not do so in its own queue."""
    node = arena.tree.queue(victim.queue)
    asked = victim.usage[CPU]
    if asked <= node.available(CPU):
        return set()
    policy = preemption(within=NEVER, reclaim=PreemptionPolicy.ANY)
    preemptor = Preemptor(
        priority=victim.priority,
        timestamp=victim.timestamp,
        node=node,
        policies=policy,
        thorough=True,
    )
    found = fair_targets(Query(preemptor, victim.usage, [CPU]), arena.tree, arena, settings=fair)
    return {one.holder.uid for one in found}


@FEW
@given(worlds(), rules)
def test_looking_for_victims_leaves_no_trace(world: World, fair: FairSharing) -> None:
    before = picture(world.arena.tree)
    classical_targets(world.query, world.arena.tree, world.arena)
    fair_targets(world.query, world.arena.tree, world.arena, settings=fair)
    assert picture(world.arena.tree) == before


@TRIES
def test_without_any_one_victim_the_head_would_not_fit(tries: settings) -> None:
    tries(given(worlds())(check_minimal))()


@TRIES
def test_with_fair_sharing_a_victim_too_few_would_not_fit_or_not_be_fair(tries: settings) -> None:
    tries(given(worlds(), rules)(check_minimal_and_fair))()


@TRIES
def test_no_victim_answers_with_the_reverse(tries: settings) -> None:
    tries(given(worlds(flat=True, simple=True), rules)(check_no_answer))()
