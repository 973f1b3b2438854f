"""What a cycle admits, what it leaves waiting, and what wakes whom."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Decision, Reason, Requeue, Wait
from queueing.core.facts import CheckPhase, Fact, Gone, Kind, StopPolicy, Strategy
from queueing.core.names import Key, QueueName
from queueing.core.settings import Compatibility, Settings
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    check,
    check_rule,
    check_state,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world

MAIN = QueueName("main")


def engine_with(*facts: Fact, settings: Settings | None = None) -> Engine:
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


def names(decisions: tuple[Decision, ...], kind: type = Admit) -> list[str]:
    return [one.workload.partition("/")[2] for one in decisions if isinstance(one, kind)]


def test_a_deep_queue_is_admitted_in_its_order_in_one_cycle() -> None:
    jobs = [workload(f"job-{number}", created=float(-number)) for number in range(12)]
    engine = engine_with(*world(cluster_queue(), *jobs))
    cycle = engine.cycle(1.0)
    assert names(cycle.decisions) == [f"job-{number}" for number in range(11, 1, -1)]
    assert cycle.finished
    check_invariants(engine)


def test_a_large_head_does_not_block_a_small_one() -> None:
    large, small = workload("large", {"cpu": 11_000}, priority=1), workload("small")
    engine = engine_with(*world(cluster_queue(), large, small))
    assert names(engine.cycle(1.0).decisions) == ["small"]


def test_a_strict_head_blocks_its_queue_until_it_goes() -> None:
    queue = cluster_queue(strategy=Strategy.STRICT_FIFO)
    large, small = workload("large", {"cpu": 11_000}, priority=1), workload("small")
    engine = engine_with(*world(queue, large, small))
    assert names(engine.cycle(1.0).decisions) == []
    assert engine.cycle(2.0).rounds == ()
    engine.observe(Gone(Kind.WORKLOAD, "team/large"))
    assert names(engine.cycle(3.0).decisions) == ["small"]
    check_invariants(engine)


def test_of_those_judged_alike_one_is_judged() -> None:
    jobs = [workload(f"job-{number:03}", created=float(number)) for number in range(500)]
    engine = engine_with(*world(cluster_queue(), *jobs))
    assert engine.cycle(1.0).judged == 11
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert (view.pending_active, view.pending_inadmissible) == (0, 490)
    last = engine.waiting(Key("team/job-499"))
    assert last is not None
    assert (last.workload, last.reason) == ("team/job-499", Reason.WAITING_FOR_QUOTA)


def test_a_release_wakes_only_whom_it_covers() -> None:
    running = [admitted("eight", {"cpu": 8_000}), admitted("two", {"cpu": 2_000})]
    waiting = [workload(f"asks-{cpu}", {"cpu": cpu * 1_000}) for cpu in (2, 3, 9)]
    engine = engine_with(*world(cluster_queue(), *running, *waiting))
    assert engine.cycle(1.0).judged == 3
    engine.observe(Gone(Kind.WORKLOAD, "team/two"))
    cycle = engine.cycle(2.0)
    assert (cycle.judged, names(cycle.decisions)) == (1, ["asks-2"])
    check_invariants(engine)


def test_in_kueue_mode_a_release_wakes_all_of_the_tree() -> None:
    running = [admitted("eight", {"cpu": 8_000}), admitted("two", {"cpu": 2_000})]
    waiting = [workload(f"asks-{cpu}", {"cpu": cpu * 1_000}) for cpu in (2, 3, 9)]
    settings = Settings(compatibility=Compatibility.KUEUE)
    engine = engine_with(*world(cluster_queue(), *running, *waiting), settings=settings)
    engine.cycle(1.0)
    engine.observe(Gone(Kind.WORKLOAD, "team/two"))
    cycle = engine.cycle(2.0)
    assert (cycle.judged, names(cycle.decisions)) == (3, ["asks-2"])


def test_the_same_fact_twice_wakes_nobody() -> None:
    facts = world(cluster_queue(), workload("large", {"cpu": 11_000}))
    engine = engine_with(*facts)
    engine.cycle(1.0)
    engine.changed()
    for fact in facts:
        engine.observe(fact)
    assert engine.cycle(2.0).rounds == ()
    assert engine.changed().cluster_queues == ()


def test_the_echo_of_its_own_reason_does_not_wake_a_workload() -> None:
    large = workload("large", {"cpu": 11_000})
    engine = engine_with(*world(cluster_queue(), large))
    engine.cycle(1.0)
    told = condition("QuotaReserved", "ExceedsMaxQuota", status=False)
    engine.observe(replace(large, conditions={"QuotaReserved": told}))
    assert engine.cycle(2.0).judged == 0


def test_quota_lent_in_a_cohort_is_borrowed_up_to_the_limit() -> None:
    lender = cluster_queue("lender", cohort="all")
    borrower = cluster_queue("main", {"default": {"cpu": quota(0, borrowing=3_000)}}, cohort="all")
    jobs = [workload(f"job-{number}") for number in range(5)]
    engine = engine_with(*world(lender, borrower, *jobs))
    cycle = engine.cycle(1.0)
    assert len(names(cycle.decisions)) == 3
    assert all(one.borrowing for one in cycle.decisions if isinstance(one, Admit))


def test_with_a_check_pending_quota_is_only_reserved() -> None:
    queue = cluster_queue(checks=(check_rule(),))
    engine = engine_with(check(), *world(queue, workload()))
    (admit,) = engine.cycle(1.0).decisions
    assert isinstance(admit, Admit)
    assert admit.checks == ("check",)
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert (view.reserving, view.admitted) == (1, 0)


@pytest.mark.parametrize(
    ("facts", "reason", "requeue", "cure"),
    [
        pytest.param(
            [flavor(), cluster_queue()],
            Reason.MISCONFIGURED,
            Requeue.NOT_QUEUED,
            local_queue(),
            id="its LocalQueue does not exist",
        ),
        pytest.param(
            [flavor(), local_queue()],
            Reason.MISCONFIGURED,
            Requeue.NOT_QUEUED,
            cluster_queue(),
            id="its ClusterQueue does not exist",
        ),
        pytest.param(
            [flavor(), cluster_queue(), local_queue(stop_policy=StopPolicy.HOLD)],
            Reason.ON_HOLD,
            Requeue.NOT_QUEUED,
            local_queue(),
            id="its LocalQueue is stopped",
        ),
        pytest.param(
            [flavor(), cluster_queue(stop_policy=StopPolicy.HOLD), local_queue()],
            Reason.SUSPENDED,
            Requeue.INADMISSIBLE,
            cluster_queue(),
            id="its ClusterQueue is stopped",
        ),
        pytest.param(
            [cluster_queue(), local_queue()],
            Reason.SUSPENDED,
            Requeue.INADMISSIBLE,
            flavor(),
            id="a flavor is missing",
        ),
        pytest.param(
            [flavor(), cluster_queue(namespace_selector=None), local_queue()],
            Reason.MISCONFIGURED,
            Requeue.INADMISSIBLE,
            cluster_queue(),
            id="its namespace does not match",
        ),
    ],
)
def test_who_cannot_be_judged_is_told_why_and_wakes_when_it_is_cured(
    facts: list[Fact], reason: Reason, requeue: Requeue, cure: Fact
) -> None:
    engine = engine_with(namespace(), *facts, workload())
    (wait,) = engine.cycle(1.0).decisions
    assert isinstance(wait, Wait)
    assert (wait.reason, wait.requeue) == (reason, requeue)
    assert engine.waiting(Key("team/job")) == wait
    assert engine.cycle(2.0).rounds == ()
    engine.observe(cure)
    assert names(engine.cycle(3.0).decisions) == ["job"]
    check_invariants(engine)


@pytest.mark.parametrize(
    ("pending", "reason"),
    [
        pytest.param(workload(active=False), Reason.DEACTIVATED, id="deactivated"),
        pytest.param(workload(admission_gates=("later",)), Reason.ADMISSION_GATED, id="gated"),
        pytest.param(
            workload(conditions=[condition("Requeued", "PodsReadyTimeout", status=False)]),
            Reason.PENDING_EVALUATION,
            id="not requeued yet",
        ),
        pytest.param(
            workload(checks=(check_state(state=CheckPhase.RETRY),)),
            Reason.PENDING_EVALUATION,
            id="a check failed",
        ),
        pytest.param(workload(misconfigured="limits"), Reason.MISCONFIGURED, id="misconfigured"),
    ],
)
def test_a_workload_that_must_not_run_waits_until_its_own_fact_changes(
    pending: Fact, reason: Reason
) -> None:
    engine = engine_with(*world(cluster_queue(), pending))
    (wait,) = engine.cycle(1.0).decisions
    assert isinstance(wait, Wait)
    assert wait.reason is reason
    engine.observe(workload())
    assert names(engine.cycle(2.0).decisions) == ["job"]
    check_invariants(engine)


def test_who_was_moved_to_another_local_queue_is_admitted_when_that_one_comes() -> None:
    engine = engine_with(*world(cluster_queue(), workload()))
    engine.observe(workload(local_queue="team/other"))
    assert names(engine.cycle(1.0).decisions) == []
    engine.observe(local_queue("team/other"))
    assert names(engine.cycle(2.0).decisions) == ["job"]
    check_invariants(engine)


def test_a_backoff_ends_by_itself_at_the_time_the_cycle_names() -> None:
    engine = engine_with(*world(cluster_queue(), workload(requeue_at=60.0)))
    cycle = engine.cycle(1.0)
    assert cycle.wake_at == 60.0
    assert names(cycle.decisions) == []
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert view.pending_inadmissible == 1
    assert names(engine.cycle(60.0).decisions) == ["job"]
    assert engine.cycle(61.0).wake_at is None
