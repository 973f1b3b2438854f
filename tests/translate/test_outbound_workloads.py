from typing import Any

import msgspec
import pytest

from queueing.core.decisions import Admit, Reason, Requeue, Wait
from queueing.core.facts import PodSetAssignment, WorkloadFact
from queueing.core.names import CheckName, FlavorName, Key, PodSetName, QueueName, ResourceName, Uid
from queueing.lifecycle.steps import (
    Cause,
    Condemn,
    Evict,
    EvictionReason,
    PodsUnready,
    Return,
    SetAside,
)
from queueing.lifecycle.steps import Requeue as RequeueStep
from queueing.translate.inbound.manifests import read
from queueing.translate.inbound.workloads import workload as to_fact
from queueing.translate.outbound import admissions
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.workloads import Workload
from tests.phases import Phase, phase_of

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


class Stored:
    """A Workload on a server that takes merge patches."""

    def __init__(self, **status: Any) -> None:
        self.document: dict[str, Any] = {
            "metadata": {
                "name": "w",
                "namespace": "ns",
                "uid": "u",
                "resourceVersion": "5",
                "finalizers": ["kueue.x-k8s.io/resource-in-use", "other"],
            },
            "spec": {"podSets": [{"count": 2}], "active": True},
            "status": status,
        }

    @property
    def wire(self) -> Workload:
        return read(Workload, self.document)

    @property
    def fact(self) -> WorkloadFact:
        return to_fact(self.wire)

    def take(self, body: bytes) -> dict[str, Any]:
        patch: dict[str, Any] = msgspec.json.decode(body)
        assert patch["metadata"]["uid"] == "u"
        assert patch["metadata"]["resourceVersion"] == "5"
        for part, fields in patch.items():
            for name, value in fields.items():
                self.document[part].pop(name, None)
                if value is not None:
                    self.document[part][name] = value
        return patch

    def condition(self, kind: str) -> tuple[str, str, str]:
        found = next(one for one in self.document["status"]["conditions"] if one["type"] == kind)
        return found["status"], found["reason"], found["message"]


def admit(*checks: str) -> Admit:
    return Admit(
        workload=Key("ns/w"),
        uid=Uid("u"),
        cluster_queue=QueueName("cq"),
        pod_sets=(
            PodSetAssignment(
                name=PodSetName("main"),
                count=2,
                flavors={ResourceName("cpu"): FlavorName("f")},
                usage={ResourceName("cpu"): 3000, ResourceName("memory"): 2 * 1024**3},
            ),
        ),
        checks=tuple(map(CheckName, checks)),
    )


PREEMPTED = Evict(reason=EvictionReason.PREEMPTED, message="make room")


def test_without_checks_reservation_and_admission_are_one_write() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    assert phase_of(stored.fact) is Phase.ADMITTED
    assert stored.condition("QuotaReserved") == (
        "True",
        "QuotaReserved",
        "Quota reserved in ClusterQueue cq",
    )
    assert stored.condition("Admitted") == ("True", "Admitted", "The workload is admitted")
    assert stored.document["status"]["admission"] == {
        "clusterQueue": "cq",
        "podSetAssignments": [
            {
                "name": "main",
                "count": 2,
                "flavors": {"cpu": "f"},
                "resourceUsage": {"cpu": "3", "memory": "2Gi"},
            }
        ],
    }


def test_with_checks_the_reservation_waits_for_them() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit("prov"), NOW))
    assert phase_of(stored.fact) is Phase.RESERVED
    check = stored.document["status"]["admissionChecks"][0]
    assert (check["name"], check["state"]) == ("prov", "Pending")
    stored.take(admissions.confirm(stored.wire, NOW))
    assert phase_of(stored.fact) is Phase.ADMITTED


def test_the_way_of_a_victim_back_into_its_queue() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    stored.take(outbound.pods_ready(stored.wire, ready=True, now=NOW))
    stored.take(outbound.evict(stored.wire, PREEMPTED, NOW + 5, preempted="InClusterQueue"))
    assert phase_of(stored.fact) is Phase.EVICTED
    assert stored.condition("Preempted")[:2] == ("True", "InClusterQueue")
    assert stored.condition("PodsReady")[0] == "False"
    stats = stored.document["status"]["schedulingStats"]["evictions"]
    assert stats == [{"reason": "Preempted", "underlyingCause": "", "count": 1}]
    stored.take(outbound.release(stored.wire, NOW + 9))
    assert phase_of(stored.fact) is Phase.PENDING
    assert "admission" not in stored.document["status"]
    assert stored.document["status"]["accumulatedPastExecutionTimeSeconds"] == 9
    assert stored.condition("Requeued")[:2] == ("True", "Preempted")
    stored.take(admissions.reserve(stored.wire, admit(), NOW + 20))
    assert stored.condition("Evicted") == ("False", "QuotaReserved", "Previously: make room")
    assert stored.condition("Preempted")[0] == "False"
    assert phase_of(stored.fact) is Phase.ADMITTED


def test_one_that_timed_out_stays_on_hold_until_its_backoff_ends() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    step = Evict(
        reason=EvictionReason.PODS_READY_TIMEOUT,
        message="too late",
        requeue_at=NOW + 60,
        requeue_count=1,
    )
    stored.take(outbound.evict(stored.wire, step, NOW))
    stored.take(outbound.release(stored.wire, NOW))
    assert phase_of(stored.fact) is Phase.ON_HOLD
    assert (stored.fact.requeue_at, stored.fact.requeue_count) == (NOW + 60, 1)
    stored.take(
        outbound.requeue(stored.wire, RequeueStep(reason=Return.BACKOFF_FINISHED), NOW + 60)
    )
    assert phase_of(stored.fact) is Phase.PENDING
    assert stored.condition("Requeued") == (
        "True",
        "BackoffFinished",
        "The workload backoff was finished",
    )


def test_every_eviction_asks_all_checks_again_and_counts_the_retries() -> None:
    for reason in (EvictionReason.ADMISSION_CHECK, EvictionReason.DEACTIVATED):
        stored = Stored(
            admissionChecks=[
                {"name": "ready", "state": "Ready", "message": "", "retryCount": 2},
                {"name": "retry", "state": "Retry", "message": "", "retryCount": 1},
                {"name": "rejected", "state": "Rejected", "message": ""},
                {"name": "pending", "state": "Pending", "message": "soon"},
            ]
        )
        stored.take(outbound.evict(stored.wire, Evict(reason=reason, message="no"), NOW))
        checks = stored.document["status"]["admissionChecks"]
        assert {one["state"] for one in checks} == {"Pending"}
        assert [one.get("retryCount", 0) for one in checks] == [2, 2, 0, 0]
        assert checks[2]["message"] == "Reset to Pending after eviction. Previously: Rejected"
        assert checks[3]["message"] == "soon"


def test_a_check_that_was_ready_before_the_reservation_stays_ready() -> None:
    stored = Stored(admissionChecks=[{"name": "early", "state": "Ready", "message": "done"}])
    stored.take(admissions.reserve(stored.wire, admit("late"), NOW))
    states = [(one["name"], one["state"]) for one in stored.document["status"]["admissionChecks"]]
    assert states == [("early", "Ready"), ("late", "Pending")]


def test_a_lost_pod_is_forgotten_with_the_eviction() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    for ready in (True, False):
        stored.take(outbound.pods_ready(stored.wire, ready=ready, now=NOW))
    assert stored.condition("PodsReady")[1] == "WaitForRecovery"
    step = Evict(reason=EvictionReason.PODS_READY_TIMEOUT, message="too late")
    stored.take(outbound.evict(stored.wire, step, NOW))
    assert stored.condition("PodsReady")[:2] == ("False", "WaitForStart")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        pytest.param(
            Evict(
                reason=EvictionReason.PODS_READY_TIMEOUT,
                cause=PodsUnready.WAIT_FOR_START,
                message="too late",
            ),
            True,
            id="too late",
        ),
        pytest.param(
            Evict(
                reason=EvictionReason.DEACTIVATED,
                cause=Cause.REQUEUING_LIMIT_EXCEEDED,
                message="too late once more",
            ),
            True,
            id="too late for the last time",
        ),
        pytest.param(PREEMPTED, False, id="preempted: its pods are not in question"),
    ],
)
def test_one_whose_pods_were_never_ready_says_so_if_it_is_evicted_for_that(
    step: Evict, said: bool
) -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    stored.take(outbound.evict(stored.wire, step, NOW))
    found = stored.wire.status.condition("PodsReady")
    assert (found is not None and (found.status, found.reason) == ("False", "WaitForStart")) == said
    assert (found is None) != said
    counted = stored.document["status"]["schedulingStats"]["evictions"]
    assert counted == [{"reason": step.reason, "underlyingCause": step.cause, "count": 1}]


def test_time_is_summed_over_evictions_until_the_workload_is_switched_on_again() -> None:
    stored = Stored(requeueState={"count": 2})
    for reason in (EvictionReason.PREEMPTED, EvictionReason.DEACTIVATED):
        stored.take(admissions.reserve(stored.wire, admit(), NOW))
        stored.take(outbound.evict(stored.wire, Evict(reason=reason, message="no"), NOW + 5))
        stored.take(outbound.release(stored.wire, NOW + 7))
    assert stored.fact.past_execution_s == 14
    stored.take(outbound.requeue(stored.wire, RequeueStep(reason=Return.REACTIVATED), NOW + 60))
    assert stored.fact.past_execution_s == 0
    assert "requeueState" not in stored.document["status"]


def test_the_return_from_a_stopped_queue_is_told_by_the_next_reservation() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    step = Evict(reason=EvictionReason.CLUSTER_QUEUE_STOPPED, message="stopped")
    stored.take(outbound.evict(stored.wire, step, NOW))
    stored.take(outbound.release(stored.wire, NOW))
    assert stored.condition("Requeued")[:2] == ("False", "ClusterQueueStopped")
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    assert stored.condition("Requeued")[:2] == ("True", "ClusterQueueRestarted")


def test_a_lack_of_devices_is_told_by_two_conditions_which_go_with_it() -> None:
    stored, text = Stored(), "insufficient matching devices"
    stored.take(outbound.set_aside(stored.wire, SetAside(message=text), NOW))
    assert stored.condition("QuotaReserved") == ("False", "Misconfigured", text)
    assert stored.condition("Requeued") == ("False", "Inadmissible", text)
    assert phase_of(stored.fact) is Phase.ON_HOLD
    stored.take(outbound.set_aside(stored.wire, SetAside(), NOW))
    assert stored.document["status"]["conditions"] == []
    stored.take(outbound.set_aside(stored.wire, SetAside(message=text), NOW))
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    told = [one["type"] for one in stored.document["status"]["conditions"]]
    assert told == ["QuotaReserved", "Admitted"]


def test_deactivation_says_its_cause_and_forgets_the_backoff() -> None:
    stored = Stored(requeueState={"count": 3})
    condemned = Condemn(cause=Cause.REQUEUING_LIMIT_EXCEEDED, message="too many retries")
    stored.take(outbound.condemn(stored.wire, condemned, NOW))
    stored.take(outbound.deactivate(stored.wire))
    assert not stored.fact.active
    step = Evict(
        reason=EvictionReason.DEACTIVATED, cause="RequeuingLimitExceeded", message="deactivated"
    )
    stored.take(outbound.evict(stored.wire, step, NOW))
    assert stored.condition("Evicted")[1] == "DeactivatedDueToRequeuingLimitExceeded"
    assert stored.condition("QuotaReserved")[:2] == ("False", "Deactivated")
    assert "DeactivationTarget" not in stored.fact.conditions
    assert "requeueState" not in stored.document["status"]


WAIT = Wait(
    workload=Key("ns/w"),
    uid=Uid("u"),
    cluster_queue=None,
    requeue=Requeue.INADMISSIBLE,
    reason=Reason.WAITING_FOR_QUOTA,
    message="1 more needed",
)


def test_nobody_is_called_admitted_who_waits_for_quota_or_for_checks() -> None:
    mistaken = [{"type": "Admitted", "status": "True", "reason": "Admitted"}]
    stored = Stored(conditions=mistaken)
    stored.take(outbound.wait(stored.wire, WAIT, NOW))
    assert stored.condition("Admitted")[:2] == ("False", "NoReservation")
    stored = Stored(conditions=mistaken)
    stored.take(admissions.reserve(stored.wire, admit("prov"), NOW))
    assert stored.condition("Admitted")[:2] == ("False", "UnsatisfiedAdmissionChecks")
    assert phase_of(stored.fact) is Phase.RESERVED


def test_a_reason_to_wait_changes_the_time_only_with_the_status() -> None:
    stored = Stored()
    stored.take(outbound.wait(stored.wire, WAIT, NOW))
    stored.take(outbound.wait(stored.wire, WAIT, NOW + 100))
    assert stored.condition("QuotaReserved") == ("False", "WaitingForQuota", "1 more needed")
    assert stored.fact.conditions["QuotaReserved"].changed == NOW


def test_pods_that_were_lost_and_came_back_recovered() -> None:
    stored = Stored()
    for ready, want in ((True, "Started"), (False, "WaitForRecovery"), (True, "Recovered")):
        stored.take(outbound.pods_ready(stored.wire, ready=ready, now=NOW))
        assert stored.condition("PodsReady")[1] == want


def test_the_end_frees_quota_and_lets_go() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    stored.take(outbound.finish(stored.wire, "Succeeded", "done", NOW))
    assert not stored.fact.holds_quota
    stored.take(outbound.drop_finalizer(stored.wire))
    assert stored.document["metadata"]["finalizers"] == ["other"]


def test_reclaimable_pods_and_fields_of_the_spec() -> None:
    stored = Stored()
    stored.take(outbound.reclaim(stored.wire, {"main": 1}, NOW))
    assert stored.fact.reclaimable == {"main": 1}
    stored.take(outbound.change_spec(stored.wire, {"priority": 4}))
    assert stored.fact.priority == 4


def test_a_reservation_is_objected_to_once_and_stays_one() -> None:
    stored = Stored()
    stored.take(admissions.reserve(stored.wire, admit(), NOW))
    assert admissions.object_to(stored.wire, "", NOW) is None
    body = admissions.object_to(stored.wire, "something is wrong", NOW + 60)
    assert body is not None
    stored.take(body)
    words = "Quota reserved in ClusterQueue cq; something is wrong"
    assert stored.condition("QuotaReserved") == ("True", "Misconfigured", words)
    assert stored.fact.conditions["QuotaReserved"].changed == NOW
    assert admissions.object_to(stored.wire, "something is wrong", NOW + 90) is None
    body = admissions.object_to(stored.wire, "", NOW + 120)
    assert body is not None
    stored.take(body)
    words = "Quota reserved in ClusterQueue cq"
    assert stored.condition("QuotaReserved") == ("True", "QuotaReserved", words)


def test_nobody_objects_to_what_holds_nothing() -> None:
    assert admissions.object_to(Stored().wire, "something is wrong", NOW) is None
