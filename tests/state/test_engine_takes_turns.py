"""Admission fair sharing: LocalQueues of one ClusterQueue take turns by what they used."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Outcome, Preempt, Verdict
from queueing.core.facts import (
    Fact,
    Gone,
    Kind,
    LocalQueueFact,
    PreemptionPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.names import Key, QueueName, ResourceName
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, local_queue, preemption, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

SETTINGS = Settings(
    admission_fair_sharing=AdmissionFairSharing(half_life_s=3_600.0, sampling_interval_s=300.0)
)
A, B = Key("team/a"), Key("team/b")
MAIN = QueueName("main")
SHARED = cluster_queue(admission_fair_sharing=True)


def door(key: Key, cores: float = 0.0) -> LocalQueueFact:
    stored = ((ResourceName("cpu"), cores),)
    return replace(local_queue(key), consumed=stored, sampled_at=1_000.0)


def jobs(key: Key, number: int, *, cores: int = 1, priority: int = 0) -> list[WorkloadFact]:
    name = key.partition("/")[2]
    return [
        workload(f"{name}-{one}", {"cpu": cores * 1_000}, local_queue=key, priority=priority)
        for one in range(number)
    ]


def engine_with(*facts: Fact, settings: Settings = SETTINGS) -> Engine:
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


def admitted_names(engine: Engine, now: float = 1_000.0) -> list[str]:
    decisions = engine.cycle(now).decisions
    check_invariants(engine)
    return [one.workload.partition("/")[2] for one in decisions if isinstance(one, Admit)]


def test_the_local_queue_that_used_less_goes_first_whatever_the_priority() -> None:
    facts: list[Fact] = [
        door(A, 8.0),
        door(B),
        *jobs(A, 1, cores=9, priority=5),
        *jobs(B, 1, cores=9),
    ]
    assert admitted_names(engine_with(*world(SHARED, *facts))) == ["b-0"]


def test_penalties_let_equals_take_turns_within_one_cycle() -> None:
    engine = engine_with(*world(SHARED, door(A), door(B), *jobs(A, 3), *jobs(B, 3)))
    assert [name[0] for name in admitted_names(engine)] == ["a", "b", "a", "b", "a", "b"]


def test_a_queue_without_the_mode_goes_by_priority_and_age() -> None:
    facts: list[Fact] = [door(A, 8.0), door(B), *jobs(A, 2, priority=5), *jobs(B, 1)]
    assert admitted_names(engine_with(*world(cluster_queue(), *facts))) == ["a-0", "a-1", "b-0"]


def test_turning_the_mode_on_reorders_those_who_wait() -> None:
    facts: list[Fact] = [
        door(A, 8.0),
        door(B),
        *jobs(A, 1, cores=9, priority=5),
        *jobs(B, 1, cores=9),
    ]
    engine = engine_with(*world(cluster_queue(), *facts))
    engine.observe(SHARED)
    assert [one.key for one in reports.pending(engine.memory, MAIN)] == ["team/b-0", "team/a-0"]
    assert admitted_names(engine) == ["b-0"]


def test_a_refused_admission_leaves_no_penalty() -> None:
    engine = engine_with(*world(SHARED, door(A), door(B), *jobs(A, 2, cores=9)))
    decision = next(one for one in engine.cycle(1_000.0).decisions if isinstance(one, Admit))
    engine.settle(Outcome(decision=decision, verdict=Verdict.REFUSED))
    engine.observe(jobs(B, 1, cores=9)[0])
    check_invariants(engine)
    assert next(one.key for one in reports.pending(engine.memory, MAIN)) == "team/a-0"


def test_time_alone_can_bring_another_head_before_one_that_blocks() -> None:
    """a used more and stopped, b runs: in time b has used more, and a passes b's large head."""
    strict = cluster_queue(strategy=Strategy.STRICT_FIFO, admission_fair_sharing=True)
    cluster = ObedientCluster(world(strict, door(A, 2.0), door(B)), SETTINGS)
    cluster.observe(workload("b-runs", {"cpu": 6_000}, local_queue=B))
    cluster.cycle()
    cluster.observe(workload("b-large", {"cpu": 9_000}, local_queue=B))
    cluster.observe(workload("a-small", local_queue=A))
    wake_at = cluster.cycle().wake_at
    assert cluster.running() == ["team/b-runs"]
    while cluster.running() == ["team/b-runs"]:
        assert wake_at is not None
        assert wake_at <= 10_000.0
        cluster.now = wake_at
        wake_at = cluster.cycle().wake_at
        check_invariants(cluster.engine)
    assert cluster.running() == ["team/a-small", "team/b-runs"]


def test_the_victim_is_of_the_local_queue_that_used_most() -> None:
    policy = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    queue = cluster_queue(preemption=policy, admission_fair_sharing=True)
    cluster = ObedientCluster(world(queue, door(A, 8.0), door(B)), SETTINGS)
    for fact in (*jobs(A, 1, cores=5), *jobs(B, 1, cores=5)):
        cluster.observe(fact)
    cluster.cycle()
    cluster.observe(local_queue("team/c"))
    cluster.observe(workload("high", {"cpu": 5_000}, local_queue=Key("team/c"), priority=9))
    found = [one.workload for one in cluster.cycle().decisions if isinstance(one, Preempt)]
    assert found == ["team/a-0"]


PREEMPTS = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def promised(strategy: Strategy) -> ObedientCluster:
    """Return a cluster in which a's job, of priority 5, waits for what b's running one leaves."""
    queue = cluster_queue(strategy=strategy, preemption=PREEMPTS, admission_fair_sharing=True)
    cluster = ObedientCluster(world(queue, door(A, 8.0), door(B)), SETTINGS)
    cluster.observe(workload("b-runs", {"cpu": 9_000}, local_queue=B))
    cluster.cycle()
    cluster.observe(workload("a-holder", {"cpu": 9_000}, local_queue=A, priority=5))
    cluster.cycle()
    assert cluster.draining() == ["team/b-runs"]
    return cluster


@pytest.mark.parametrize("strategy", Strategy)
def test_a_promise_is_served_whoevers_turn_it_is(strategy: Strategy) -> None:
    cluster = promised(strategy)
    cluster.observe(workload("b-small", {"cpu": 2_000}, local_queue=B))
    cluster.cycle()
    assert cluster.running() == []
    cluster.drain(Key("team/b-runs"))
    cluster.cycle()
    assert cluster.running() == ["team/a-holder"]
    assert len(cluster.preemptions) == 1


@pytest.mark.parametrize("strategy", Strategy)
def test_a_new_leader_serves_a_promise_whoevers_turn_it_is(strategy: Strategy) -> None:
    cluster = promised(strategy)
    cluster.drain(Key("team/b-runs"))
    cluster.restart()
    cluster.cycle()
    assert cluster.running() == ["team/a-holder"]


@pytest.mark.parametrize("strategy", Strategy)
def test_a_higher_priority_whose_turn_it_is_takes_the_promise(strategy: Strategy) -> None:
    cluster = promised(strategy)
    cluster.observe(workload("b-high", {"cpu": 9_000}, local_queue=B, priority=6))
    cluster.cycle()
    cluster.drain(Key("team/b-runs"))
    cluster.cycle()
    assert cluster.running() == ["team/b-high"]


@pytest.mark.parametrize("strategy", Strategy)
def test_turns_are_taken_as_before_when_the_holder_of_a_promise_is_gone(strategy: Strategy) -> None:
    cluster = promised(strategy)
    cluster.observe(workload("b-small", {"cpu": 9_000}, local_queue=B))
    cluster.observe(workload("a-small", {"cpu": 9_000}, local_queue=A, priority=4))
    cluster.observe(Gone(Kind.WORKLOAD, "team/a-holder"))
    cluster.drain(Key("team/b-runs"))
    found = [one.workload for one in cluster.cycle().decisions if isinstance(one, Admit)]
    assert found == ["team/b-runs"]


def test_the_view_of_a_local_queue_shows_the_history_that_a_new_engine_goes_on_from() -> None:
    cluster = ObedientCluster(world(SHARED, door(A), door(B)), SETTINGS)
    cluster.observe(workload("one", {"cpu": 8_000}, local_queue=A))
    cluster.cycle()
    cluster.now = 4_600.0
    cluster.cycle()
    seen = reports.local_queue(cluster.engine.memory, A)
    assert seen is not None
    assert seen.history is not None
    assert A in cluster.engine.changed().local_queues
    stored = replace(
        local_queue(A),
        consumed=tuple(seen.history.consumed.items()),
        sampled_at=seen.history.updated,
    )
    running = cluster.workloads[Key("team/one")]
    reborn = engine_with(*world(SHARED, stored, door(B), running))
    reborn.cycle(cluster.now)
    assert reports.local_queue(reborn.memory, A) == seen


def test_a_local_queue_shows_no_history_where_nobody_takes_turns() -> None:
    engine = engine_with(*world(cluster_queue(), door(A, 8.0)))
    seen = reports.local_queue(engine.memory, A)
    assert seen is not None
    assert seen.history is None
