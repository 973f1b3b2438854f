"""Laws of the engine, on random worlds driven by its own decisions."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from queueing.core.decisions import Admit, Decision, Preempt
from queueing.core.facts import ClusterQueueFact, Fact, Gone, Kind, WorkloadFact
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.state.engine import Engine
from queueing.testing.obedient import ObedientCluster
from queueing.testing.random_worlds import Event, Step, histories, worlds

QUEUEING = Settings()
KUEUE = Settings(compatibility=Compatibility.KUEUE)
UNHASHED = Settings(equivalence_hashing=False)
FAIR = Settings(
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
)
every_settings = st.sampled_from([QUEUEING, UNHASHED, FAIR])

few = tries(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
many = tries(few, max_examples=6_000, derandomize=False)


def assert_within_quota(cluster: ObedientCluster) -> None:
    tree = cluster.engine._memory.tree
    for name in cluster.engine._memory.objects.queues:
        node = tree.queue(name)
        for one in (node, *node.ancestors()):
            for resource in node.resources():
                free = one.cell(resource).available()
                assert free >= 0, f"{one.name} is over by {-free} of {resource}"


def live(facts: list[Fact], settings: Settings, now: float) -> list[Decision]:
    """Return what an engine that knows nothing but the facts would do."""
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    decisions = engine.cycle(now).decisions
    return [one for one in decisions if isinstance(one, Admit | Preempt)]


def play(cluster: ObedientCluster, step: Step, *, cuts: bool = True) -> None:
    match step:
        case WorkloadFact():
            cluster.observe(step)
        case Event("cycle"):
            cluster.cycle()
        case Event("rest") if cluster.settings.compatibility is Compatibility.QUEUEING:
            cluster.rest()
        case Event("rest"):
            cluster.cycle()
        case Event("restart"):
            cluster.restart()
        case Event("finish", pick) if running := cluster.running():
            cluster.finish(running[pick % len(running)])
        case Event("drain", pick) if draining := cluster.draining():
            cluster.drain(draining[pick % len(draining)])
        case Event("gone", pick) if keys := sorted(cluster.workloads):
            cluster.observe(Gone(Kind.WORKLOAD, keys[pick % len(keys)]))
        case Event("priority", pick) if keys := sorted(cluster.workloads):
            fact = cluster.workloads[keys[pick % len(keys)]]
            cluster.observe(replace(fact, priority=pick))
        case Event("quota", pick) if cuts:
            change_quota(cluster, pick)


def change_quota(cluster: ObedientCluster, pick: int) -> None:
    queues = [one for one in cluster.objects.values() if isinstance(one, ClusterQueueFact)]
    queue = queues[pick % len(queues)]
    first = queue.groups[0].flavors[0]
    quotas = tuple(
        (name, replace(one, nominal=one.nominal + pick - 2))
        for name, one in first.quotas
        if one.nominal + pick >= 2 + (one.lending_limit or 0)
    )
    if len(quotas) == len(first.quotas):
        flavors = (replace(first, quotas=quotas), *queue.groups[0].flavors[1:])
        cluster.observe(replace(queue, groups=(replace(queue.groups[0], flavors=flavors),)))


def comes_to_rest_and_leaves_nothing(
    facts: list[Fact], history: list[Step], settings: Settings, budget: int | None
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step)
        cluster.engine.check()
    cluster.rest(budget)
    cluster.engine.check()
    left = live(cluster.facts(), settings, cluster.now)
    assert [one for one in left if not would_go_in_a_circle(cluster, one)] == []


def would_go_in_a_circle(cluster: ObedientCluster, decision: Decision) -> bool:
    """Say whether a preemptor is held back only because it preempted some of its victims before."""
    if not isinstance(decision, Preempt):
        return False
    feuds = cluster.engine._memory.feuds.values()
    return any(one.victims_of(decision.preemptor_uid) for one in feuds)


@few
@given(worlds(), histories(), every_settings, st.sampled_from([None, 1, 3]))
def test_an_obedient_cluster_comes_to_rest_with_nothing_left_to_do(
    facts: list[Fact], history: list[Step], settings: Settings, budget: int | None
) -> None:
    comes_to_rest_and_leaves_nothing(facts, history, settings, budget)


@pytest.mark.slow
@many
@given(worlds(), histories(30), every_settings, st.sampled_from([None, 1, 3]))
def test_a_busy_obedient_cluster_comes_to_rest_with_nothing_left_to_do(
    facts: list[Fact], history: list[Step], settings: Settings, budget: int | None
) -> None:
    comes_to_rest_and_leaves_nothing(facts, history, settings, budget)


@few
@given(worlds(), histories(), st.sampled_from([QUEUEING, KUEUE, UNHASHED, FAIR]))
def test_quota_is_never_exceeded_while_nobody_cuts_it(
    facts: list[Fact], history: list[Step], settings: Settings
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step, cuts=False)
        assert_within_quota(cluster)
        cluster.engine.check()


@few
@given(worlds(), histories(), every_settings)
def test_nothing_is_used_when_all_are_gone(
    facts: list[Fact], history: list[Step], settings: Settings
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step)
    cluster.rest()
    while running := cluster.running():
        for key in running:
            cluster.finish(key)
        cluster.rest()
    cluster.engine.check()
    memory = cluster.engine._memory
    assert not memory.ledger.charges
    assert not memory.claims
    for name in memory.objects.queues:
        view = cluster.engine.cluster_queue(name)
        assert view is not None
        assert not any(one.total for one in view.reservation.values())


@few
@given(worlds(), histories(), every_settings)
def test_hearing_everything_again_changes_nothing(
    facts: list[Fact], history: list[Step], settings: Settings
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step)
    cluster.rest()
    cluster.engine.changed()
    for fact in cluster.facts():
        cluster.engine.observe(fact)
    cycle = cluster.engine.cycle(cluster.now)
    assert (cycle.rounds, cycle.judged, cycle.finished) == ((), 0, True)
    told = cluster.engine.changed()
    assert (told.cluster_queues, told.local_queues, told.cohorts) == ((), (), ())


@few
@given(worlds(), histories(), every_settings, st.randoms(use_true_random=False))
def test_the_order_of_facts_does_not_matter(
    facts: list[Fact], history: list[Step], settings: Settings, random: Random
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step)
    known = cluster.facts()
    want = live(known, settings, cluster.now)
    random.shuffle(known)
    assert live(known, settings, cluster.now) == want


@few
@given(worlds(), histories(), st.sampled_from([QUEUEING, UNHASHED]), st.integers(1, 4))
def test_a_budget_changes_the_pace_and_not_the_decisions(
    facts: list[Fact], history: list[Step], settings: Settings, budget: int
) -> None:
    whole, cut = Engine(settings), Engine(settings)
    for fact in (*facts, *(one for one in history if isinstance(one, WorkloadFact))):
        whole.observe(fact)
        cut.observe(fact)
    want = {str(one) for one in whole.cycle(1.0).decisions}
    got: set[str] = set()
    for _ in range(1_000):
        cycle = cut.cycle(1.0, budget)
        got |= {str(one) for one in cycle.decisions}
        if cycle.finished:
            break
    assert got == want


@few
@given(worlds(), histories(), every_settings)
def test_nobody_is_preempted_twice_for_the_same_head_without_an_outside_change(
    facts: list[Fact], history: list[Step], settings: Settings
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        play(cluster, step)
        cluster.preemptions.clear()
        cluster.rest()
        pairs = [(one.uid, one.preemptor_uid) for one in cluster.preemptions]
        assert len(pairs) == len(set(pairs))
