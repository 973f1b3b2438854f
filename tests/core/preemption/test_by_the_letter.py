"""Victims as the rules name them, found step by step without any cleverness.

The searches under test keep heaps, memos and incremental sums; the letter of the rules computes
every number anew. Both must name the same victims, in the same order, for the same reasons.
"""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.decisions import Mode, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import ClusterQueueFact, CohortFact, PreemptionPolicy, WorkloadFact
from queueing.core.fair_sharing.preemption import fair_targets
from queueing.core.flavor_quotas import Quota
from queueing.core.names import FlavorName, FlavorResource, QueueName
from queueing.core.preemption.classical import classical_targets
from queueing.core.preemption.query import Preemptor, Query, Target
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    cohort,
    condition,
    preemption,
    quota,
    workload,
)
from tests.core.preemption.letter_of_classical import letter_of_classical
from tests.core.preemption.letter_of_fair import letter_of_fair
from tests.core.preemption.letter_of_round import Round
from tests.core.preemption.plain_tree import ANY, NEVER, RESOURCES, Victims, World, plain
from tests.lengths import lengths

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
LOWER = PreemptionPolicy.LOWER_PRIORITY
FEW = settings(max_examples=50, deadline=None, derandomize=True)
TRIES = lengths("tries", FEW, settings(max_examples=300, deadline=None))
PARENTS = {"left": "top", "right": "top", "deep": "left"}
weights = st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(0)])
policies = st.builds(
    preemption,
    within=st.sampled_from(PreemptionPolicy),
    reclaim=st.sampled_from([ANY, ANY, LOWER, NEVER]),
    borrow=st.sampled_from([NEVER, LOWER]),
    threshold=st.none() | st.integers(0, 2),
)
rules = st.builds(
    FairSharing,
    strategies=st.sampled_from([(FINAL, INITIAL), (FINAL,), (INITIAL,)]),
    preempt_within_nominal=st.booleans(),
)


@st.composite
def limits(draw: st.DrawFn, most: int) -> Quota:
    nominal = draw(st.integers(0, most))
    return quota(
        nominal,
        borrowing=draw(st.none() | st.none() | st.integers(0, 6)),
        lending=draw(st.none() | st.none() | st.integers(0, nominal)),
    )


@st.composite
def trees(draw: st.DrawFn, *, one_flavor: bool) -> list[ClusterQueueFact | CohortFact]:
    made: list[ClusterQueueFact | CohortFact] = []
    for name, parent in PARENTS.items():
        table = {"one": {"cpu": draw(limits(3)), "gpu": quota(0)}} if draw(st.booleans()) else {}
        made.append(cohort(name, parent, quotas=table, fair_weight=draw(weights)))
    for name in "abcde":
        table = {
            flavor: {"cpu": draw(limits(most)), "gpu": draw(limits(4))}
            for flavor, most in (("one", 6), ("two", 3))[: 1 if one_flavor else 2]
        }
        if not one_flavor and draw(st.integers(0, 3)) == 0:
            table = {flavor: {"cpu": amounts["cpu"]} for flavor, amounts in table.items()}
        parent = draw(st.sampled_from(["top", *PARENTS]))
        rules_of_queue, weight = draw(policies), draw(weights)
        made.append(
            cluster_queue(name, table, cohort=parent, preemption=rules_of_queue, fair_weight=weight)
        )
    return made


@st.composite
def worlds(draw: st.DrawFn, *, one_flavor: bool = False) -> World:
    facts = draw(trees(one_flavor=one_flavor))
    asked = st.fixed_dictionaries({"cpu": st.integers(1, 5)}, optional={"gpu": st.integers(1, 3)})
    running = [
        admitted(
            f"w{number}",
            draw(asked),
            queue=queue,
            flavor="one",
            priority=draw(st.integers(0, 2)),
            created=float(draw(st.integers(0, 4))),
            conditions=[condition("Evicted", "Preempted")] if draw(st.integers(0, 5)) == 0 else [],
        )
        for number, queue in enumerate(
            draw(st.lists(st.sampled_from("abcde"), min_size=3, max_size=14))
        )
    ]
    arena = Arena(*facts, *running)
    node = arena.tree.queue(QueueName("a"))
    cpu, gpu = RESOURCES[0], RESOURCES[2]
    requests = {cpu: max(1, node.available(cpu) + draw(st.integers(0, 5)))}
    if draw(st.booleans()):
        requests[gpu] = draw(st.integers(1, 3))
    fact = next(one for one in facts if one.name == "a")
    assert isinstance(fact, ClusterQueueFact)
    preemptor = Preemptor(
        priority=draw(st.integers(0, 3)), timestamp=1.5, node=node, policies=fact.preemption
    )
    contested = [one for one, amount in requests.items() if amount > node.available(one)]
    held = [holder for queue in "abcde" for holder in arena.holders(QueueName(queue))]
    return World(arena, Query(preemptor, requests, contested), plain(facts, held))


def named(targets: Sequence[Target]) -> Victims:
    return [(one.holder.key, one.reason) for one in targets]


def check_classical(world: World) -> None:
    found = classical_targets(world.query, world.arena.tree, world.arena)
    assert named(found) == letter_of_classical(world)


def check_fair(world: World, fair: FairSharing) -> None:
    found = fair_targets(world.query, world.arena.tree, world.arena, settings=fair)
    assert named(found) == letter_of_fair(world, fair)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[World, list[WorkloadFact]]:
    """Draw a world, and a head for some of its queues."""
    world = draw(worlds(one_flavor=True))
    asked = st.fixed_dictionaries({"cpu": st.integers(1, 6)}, optional={"gpu": st.integers(1, 3)})
    heads = [
        workload(
            f"head-{name}",
            draw(asked),
            local_queue=f"team/{name}",
            priority=draw(st.integers(0, 3)),
            created=draw(st.integers(0, 3)) + 0.5,
        )
        for name in draw(st.lists(st.sampled_from("abcde"), min_size=2, max_size=5, unique=True))
    ]
    return world, heads


def check_round(case: tuple[World, list[WorkloadFact]], fair: FairSharing | None) -> None:
    world, heads = case
    arena, knots = world.arena, world.knots
    arena.settings = Settings(compatibility=Compatibility.KUEUE, fair_sharing=fair)
    asked: list[tuple[str, World]] = []
    for head in heads:
        node = arena.tree.queue(arena.head(head).queue)
        preemptor = Preemptor(
            priority=head.priority,
            timestamp=head.created,
            node=node,
            policies=arena.rules[QueueName(node.name)].fact.preemption,
        )
        pods = head.pod_sets[0].requests
        requests = {FlavorResource(FlavorName("one"), one): pods[one] for one in sorted(pods)}
        asked.append((head.key, World(arena, Query(preemptor, requests, []), knots)))
    want = Round(knots, fair).decide(asked)
    found = [
        (one.head.workload.key, _mode(one), [(p.workload, p.reason) for p in one.preemptions])
        for one in arena.round(*heads)
    ]
    assert sorted(found) == sorted(want)


def _mode(judgement: Ruling) -> Mode | None:
    return judgement.decision.mode if isinstance(judgement.decision, Wait) else None


@TRIES
def test_classical_preemption(tries: settings) -> None:
    tries(given(worlds())(check_classical))()


@TRIES
def test_preemption_by_shares(tries: settings) -> None:
    tries(given(worlds(), rules)(check_fair))()


@TRIES
def test_a_round(tries: settings) -> None:
    tries(given(rounds(), st.none() | rules)(check_round))()
