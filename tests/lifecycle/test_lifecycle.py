from typing import Any

import pytest

from queueing.core.facts import (
    Admission,
    CheckPhase,
    CheckState,
    Condition,
    StopPolicy,
    WorkloadFact,
)
from queueing.core.names import CheckName, Key, QueueName, Uid
from queueing.lifecycle.rules import (
    Life,
    LifeRules,
    PodsReadyRules,
    RequeueBackoff,
    StopPolicies,
    judge,
)
from queueing.lifecycle.steps import (
    Cause,
    Condemn,
    ConfirmAdmission,
    Deactivate,
    Evict,
    EvictionReason,
    PodsUnready,
    Remove,
    Requeue,
    Return,
    SetAside,
)
from tests.phases import Phase, phase_of

OPEN = StopPolicies(local=StopPolicy.NONE, cluster=StopPolicy.NONE)
NOW = 10_000.0
HELD = Admission(cluster_queue=QueueName("cq"), pod_sets=())


def workload(*conditions: Condition, **more: Any) -> WorkloadFact:
    return WorkloadFact(
        key=Key("ns/w"),
        uid=Uid("u"),
        local_queue=Key("ns/lq"),
        pod_sets=(),
        created=0.0,
        conditions={one.type: one for one in conditions},
        **more,
    )


def yes(kind: str, reason: str = "", at: float = NOW, message: str = "") -> Condition:
    return Condition(type=kind, status=True, reason=reason, changed=at, message=message)


def no(kind: str, reason: str = "", at: float = NOW) -> Condition:
    return Condition(type=kind, status=False, reason=reason, changed=at)


def check(state: CheckPhase, **more: Any) -> CheckState:
    return CheckState(name=CheckName("ac"), state=state, **more)


def running(*conditions: Condition, **more: Any) -> WorkloadFact:
    """Admitted, pods ready, in the given other conditions."""
    usual = (yes("QuotaReserved"), yes("Admitted"), yes("PodsReady"))
    return workload(*usual, *conditions, admission=HELD, **more)


def reserved(**more: Any) -> WorkloadFact:
    return workload(yes("QuotaReserved"), admission=HELD, **more)


def live(fact: WorkloadFact, stops: StopPolicies = OPEN, rules: LifeRules | None = None) -> Life:
    return judge(fact, stops, rules or LifeRules(), NOW)


@pytest.mark.parametrize(
    "fact",
    [
        pytest.param(workload(), id="pending"),
        pytest.param(running(), id="running"),
        pytest.param(running(yes("Evicted", "Preempted")), id="draining"),
        pytest.param(reserved(checks=(check(CheckPhase.PENDING),)), id="waiting for a check"),
        pytest.param(workload(yes("Finished")), id="finished and kept for ever"),
        pytest.param(running(deleting=True, active=False), id="being deleted"),
        pytest.param(
            workload(yes("Evicted", "Preempted"), yes("Requeued", "Preempted")), id="requeued"
        ),
    ],
)
def test_nothing_is_due(fact: WorkloadFact) -> None:
    assert live(fact) == Life()


def test_checks_that_are_all_ready_admit() -> None:
    assert live(reserved(checks=(check(CheckPhase.READY),))).step == ConfirmAdmission()


def test_a_check_that_asks_to_retry_evicts_until_it_says() -> None:
    step = live(reserved(checks=(check(CheckPhase.RETRY, changed=NOW, requeue_after_s=30),))).step
    assert isinstance(step, Evict)
    assert (step.reason, step.requeue_at) == (EvictionReason.ADMISSION_CHECK, NOW + 30)


def test_a_running_workload_is_evicted_by_a_check_that_asks_to_retry() -> None:
    step = live(running(checks=(check(CheckPhase.RETRY),))).step
    assert isinstance(step, Evict)
    assert (step.reason, step.requeue_at) == (EvictionReason.ADMISSION_CHECK, NOW)


@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param((), id="never admitted"),
        pytest.param((yes("Evicted", "Preempted"), yes("Requeued", "Preempted")), id="preempted"),
    ],
)
def test_a_check_that_fails_once_the_quota_is_given_back_counts_all_the_same(
    conditions: tuple[Condition, ...],
) -> None:
    again = check(CheckPhase.RETRY, changed=NOW, requeue_after_s=30)
    step = live(workload(*conditions, checks=(again,))).step
    assert isinstance(step, Evict)
    assert (step.reason, step.requeue_at) == (EvictionReason.ADMISSION_CHECK, NOW + 30)
    step = live(workload(*conditions, checks=(again, check(CheckPhase.REJECTED)))).step
    assert isinstance(step, Condemn)
    assert step.cause is Cause.ADMISSION_CHECK


def test_who_is_on_hold_returns_before_its_checks_are_looked_at() -> None:
    fact = workload(no("Requeued", "PodsReadyTimeout"), checks=(check(CheckPhase.RETRY),))
    assert live(fact).step == Requeue(reason=Return.BACKOFF_FINISHED)


def test_what_reserves_quota_without_an_admission_is_not_admitted() -> None:
    assert live(workload(yes("QuotaReserved"))) == Life()


def test_the_latest_of_several_retries_says_when_to_return() -> None:
    checks = (
        check(CheckPhase.RETRY, changed=NOW - 50, requeue_after_s=100),
        check(CheckPhase.RETRY, changed=NOW, requeue_after_s=20),
        check(CheckPhase.PENDING, changed=NOW, requeue_after_s=900),
    )
    step = live(reserved(checks=checks)).step
    assert isinstance(step, Evict)
    assert step.requeue_at == NOW + 50


def test_a_rejected_check_condemns_even_a_running_workload() -> None:
    step = live(running(checks=(check(CheckPhase.REJECTED),))).step
    assert isinstance(step, Condemn)
    assert step.cause is Cause.ADMISSION_CHECK


@pytest.mark.parametrize(
    ("stops", "fact", "want"),
    [
        pytest.param(
            StopPolicies(local=StopPolicy.NONE, cluster=StopPolicy.HOLD),
            running(),
            None,
            id="hold, run",
        ),
        pytest.param(
            StopPolicies(local=StopPolicy.NONE, cluster=StopPolicy.HOLD),
            reserved(checks=(check(CheckPhase.PENDING),)),
            EvictionReason.CLUSTER_QUEUE_STOPPED,
            id="hold drops a reservation",
        ),
        pytest.param(
            StopPolicies(local=StopPolicy.HOLD, cluster=StopPolicy.NONE),
            reserved(checks=(check(CheckPhase.READY),)),
            EvictionReason.LOCAL_QUEUE_STOPPED,
            id="hold drops a reservation whose checks are ready",
        ),
        pytest.param(
            StopPolicies(local=StopPolicy.NONE, cluster=StopPolicy.HOLD_AND_DRAIN),
            running(),
            EvictionReason.CLUSTER_QUEUE_STOPPED,
            id="drain",
        ),
        pytest.param(
            StopPolicies(local=StopPolicy.HOLD_AND_DRAIN, cluster=StopPolicy.NONE),
            running(),
            EvictionReason.LOCAL_QUEUE_STOPPED,
            id="drain the local queue",
        ),
        pytest.param(StopPolicies(local=None, cluster=None), running(), None, id="no such queues"),
        pytest.param(
            StopPolicies(local=StopPolicy.NONE, cluster=None),
            reserved(checks=(check(CheckPhase.READY),)),
            EvictionReason.CLUSTER_QUEUE_STOPPED,
            id="a reservation in a queue that is gone",
        ),
    ],
)
def test_a_stopped_queue(
    stops: StopPolicies, fact: WorkloadFact, want: EvictionReason | None
) -> None:
    step = live(fact, stops).step
    assert (step.reason if isinstance(step, Evict) else None) == want


@pytest.mark.parametrize(
    ("held", "stops", "more", "want"),
    [
        pytest.param("Deactivated", OPEN, {}, Return.REACTIVATED, id="switched on again"),
        pytest.param(
            "ClusterQueueStopped", OPEN, {}, Return.CLUSTER_QUEUE_RESTARTED, id="queue restarted"
        ),
        pytest.param(
            "LocalQueueStopped", OPEN, {}, Return.LOCAL_QUEUE_RESTARTED, id="local queue restarted"
        ),
        pytest.param(
            "ClusterQueueStopped",
            StopPolicies(local=StopPolicy.NONE, cluster=StopPolicy.HOLD),
            {},
            None,
            id="still stopped",
        ),
        pytest.param(
            "PodsReadyTimeout", OPEN, {"requeue_at": NOW}, Return.BACKOFF_FINISHED, id="backed off"
        ),
        pytest.param(
            "PodsReadyTimeout", OPEN, {"requeue_at": NOW + 5}, None, id="still backing off"
        ),
    ],
)
def test_a_workload_on_hold_returns_when_its_hold_ends(
    held: str, stops: StopPolicies, more: dict[str, Any], want: Return | None
) -> None:
    fact = workload(yes("Evicted", held), no("Requeued", held), **more)
    assert phase_of(fact) is Phase.ON_HOLD
    step = live(fact, stops).step
    assert (step.reason if isinstance(step, Requeue) else None) == want


LACK = "insufficient matching devices"
TOLD = Condition(type="Requeued", status=False, reason="Inadmissible", message=LACK)


@pytest.mark.parametrize(
    ("fact", "want"),
    [
        pytest.param(workload(unserved=LACK), Life(step=SetAside(message=LACK)), id="is told"),
        pytest.param(workload(TOLD, unserved=LACK), Life(), id="is told once"),
        pytest.param(
            workload(TOLD, unserved="fewer"), Life(step=SetAside(message="fewer")), id="more so"
        ),
        pytest.param(workload(TOLD), Life(step=SetAside()), id="no longer"),
        pytest.param(
            workload(no("Requeued", "PodsReadyTimeout"), unserved=LACK, requeue_at=NOW + 9.0),
            Life(look_again_at=NOW + 9.0),
            id="after its backoff",
        ),
        pytest.param(
            running(unserved=LACK),
            Life(),
            id="not while it runs",
        ),
    ],
)
def test_a_lack_of_devices_in_the_whole_cluster(fact: WorkloadFact, want: Life) -> None:
    assert live(fact) == want


def test_a_backoff_says_when_it_ends() -> None:
    fact = workload(no("Requeued", "PodsReadyTimeout"), requeue_at=NOW + 5)
    assert live(fact).look_again_at == NOW + 5


@pytest.mark.parametrize(("before", "wait_s"), [(0, 60), (1, 120), (2, 240), (9, 3600)])
def test_pods_that_never_get_ready_send_the_workload_back_with_backoff(
    before: int, wait_s: float
) -> None:
    admitted = yes("Admitted", at=NOW - 1800)
    fact = workload(yes("QuotaReserved"), admitted, admission=HELD, requeue_count=before)
    step = live(fact).step
    assert isinstance(step, Evict)
    assert (step.reason, step.requeue_count) == (EvictionReason.PODS_READY_TIMEOUT, before + 1)
    assert (step.wire_reason, step.cause) == ("PodsReadyTimeout", PodsUnready.WAIT_FOR_START)
    assert step.requeue_at == NOW + wait_s


def test_too_many_failed_starts_condemn() -> None:
    rules = LifeRules(pods_ready=PodsReadyRules(timeout_s=10, backoff=RequeueBackoff(limit=1)))
    since = NOW - 10
    fact = workload(
        yes("QuotaReserved"), yes("Admitted", at=since), admission=HELD, requeue_count=1
    )
    step = live(fact, rules=rules).step
    message = "exceeding the maximum number of re-queuing retries"
    assert step == Condemn(cause=Cause.REQUEUING_LIMIT_EXCEEDED, message=message)


def test_a_lost_pod_has_its_own_patience() -> None:
    rules = LifeRules(pods_ready=PodsReadyRules(timeout_s=10, recovery_timeout_s=300))
    lost = no("PodsReady", "WaitForRecovery", at=NOW - 100)
    fact = workload(yes("QuotaReserved"), yes("Admitted", at=NOW - 5000), lost, admission=HELD)
    assert live(fact, rules=rules) == Life(look_again_at=NOW + 200)


def test_pods_that_were_never_ready_have_the_patience_of_a_start() -> None:
    rules = LifeRules(pods_ready=PodsReadyRules(timeout_s=10, recovery_timeout_s=300))
    waits = no("PodsReady", "WaitForStart", at=NOW)
    fact = workload(yes("QuotaReserved"), yes("Admitted", at=NOW - 4), waits, admission=HELD)
    assert live(fact, rules=rules) == Life(look_again_at=NOW + 6)


def test_an_eviction_for_a_lost_pod_names_that_as_its_cause() -> None:
    rules = LifeRules(pods_ready=PodsReadyRules(recovery_timeout_s=30))
    lost = no("PodsReady", "WaitForRecovery", at=NOW - 30)
    fact = workload(yes("QuotaReserved"), yes("Admitted", at=NOW - 60), lost, admission=HELD)
    step = live(fact, rules=rules).step
    assert isinstance(step, Evict)
    assert (step.wire_reason, step.cause) == ("PodsReadyTimeout", PodsUnready.WAIT_FOR_RECOVERY)


@pytest.mark.parametrize(
    ("own_s", "left_s"),
    [pytest.param(None, 6, id="as the timeout"), pytest.param(0, None, id="none at all")],
)
def test_the_patience_with_a_lost_pod_may_be_none(
    own_s: float | None, left_s: float | None
) -> None:
    rules = LifeRules(pods_ready=PodsReadyRules(timeout_s=10, recovery_timeout_s=own_s))
    lost = no("PodsReady", "WaitForRecovery", at=NOW - 4)
    fact = workload(yes("QuotaReserved"), yes("Admitted", at=NOW - 5000), lost, admission=HELD)
    found = live(fact, rules=rules)
    assert found.look_again_at == (None if left_s is None else NOW + left_s)
    assert isinstance(found.step, Evict) == (left_s is None)


def test_the_nearest_of_two_limits_is_looked_at_first() -> None:
    fact = workload(yes("QuotaReserved"), yes("Admitted"), admission=HELD, max_execution_s=60)
    assert live(fact).look_again_at == NOW + 60


def test_execution_time_counts_earlier_runs() -> None:
    fact = running(max_execution_s=100, past_execution_s=100)
    step = live(fact).step
    assert isinstance(step, Condemn)
    assert step.cause is Cause.MAXIMUM_EXECUTION_TIME_EXCEEDED


def test_a_condemned_workload_is_switched_off_then_evicted_with_its_cause() -> None:
    target = yes("DeactivationTarget", "RequeuingLimitExceeded", message="too many")
    assert live(running(target)).step == Deactivate()
    step = live(running(target, active=False)).step
    assert isinstance(step, Evict)
    assert step.cause == "RequeuingLimitExceeded"
    assert step.wire_reason == "DeactivatedDueToRequeuingLimitExceeded"


def test_a_user_who_switches_off_evicts_at_once() -> None:
    step = live(workload(active=False)).step
    assert isinstance(step, Evict)
    assert step.wire_reason == "Deactivated"


@pytest.mark.parametrize(
    ("fact", "with_owner"),
    [
        pytest.param(workload(yes("Finished", at=NOW - 60)), False, id="finished: its job stays"),
        pytest.param(
            workload(yes("Evicted", "DeactivatedDueToAdmissionCheck", at=NOW - 60), active=False),
            True,
            id="deactivated: its job goes, it would only be queued again",
        ),
    ],
)
def test_retention(fact: WorkloadFact, with_owner: bool) -> None:
    over = LifeRules(keep_finished_s=60, keep_deactivated_s=60)
    assert live(fact, rules=over) == Life(step=Remove(with_owner=with_owner))
    not_yet = LifeRules(keep_finished_s=70, keep_deactivated_s=70)
    assert live(fact, rules=not_yet) == Life(look_again_at=NOW + 10)


def test_nothing_is_removed_whose_pods_may_run() -> None:
    evicted = yes("Evicted", "DeactivatedDueToAdmissionCheck", at=0.0)
    over = LifeRules(keep_deactivated_s=1)
    assert live(running(evicted, active=False), rules=over) == Life()


def test_only_what_the_controller_deactivated_is_removed() -> None:
    evicted = yes("Evicted", "Deactivated", at=0.0)
    assert live(workload(evicted, active=False), rules=LifeRules(keep_deactivated_s=1)) == Life()


@pytest.mark.parametrize(
    ("attempt", "want"), [(1, 60.0), (2, 120.0), (7, 3600.0), (10_000, 3600.0)]
)
def test_backoff_doubles_up_to_its_maximum(attempt: int, want: float) -> None:
    assert RequeueBackoff().delay_s(attempt) == want
