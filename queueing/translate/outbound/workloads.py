"""Patches of a Workload: one function per step of its life, but for `admissions`.

Called just before a write by the reconcilers of Jobs and Workloads, and by features that evict.
"""

from collections.abc import Mapping
from typing import Any

from queueing.core.decisions import Preempt, PreemptionReason, Reason, Wait
from queueing.core.devices import INADMISSIBLE
from queueing.core.reasons import GATED
from queueing.lifecycle.rules import ON_HOLD
from queueing.lifecycle.steps import (
    Cause,
    Condemn,
    Evict,
    EvictionReason,
    PodsUnready,
    Requeue,
    Return,
    SetAside,
)
from queueing.translate.labels import ADMISSION_GATED_BY, RESOURCE_IN_USE
from queueing.translate.outbound import checks
from queueing.translate.outbound.conditions import (
    Conditions,
    conditions_of,
    patch,
    status_patch,
    unadmit,
)
from queueing.translate.times import timestamp
from queueing.translate.wire.workloads import SchedulingStats, Workload

RETURN_MESSAGES: Mapping[Return, str] = {
    Return.REACTIVATED: "The workload was reactivated",
    Return.BACKOFF_FINISHED: "The workload backoff was finished",
    Return.CLUSTER_QUEUE_RESTARTED: "The ClusterQueue was restarted after being stopped",
    Return.LOCAL_QUEUE_RESTARTED: "The LocalQueue was restarted after being stopped",
}
REOPENED: Mapping[str, Return] = {
    "ClusterQueueStopped": Return.CLUSTER_QUEUE_RESTARTED,
    "LocalQueueStopped": Return.LOCAL_QUEUE_RESTARTED,
}
"""Reasons for which a stopped queue evicts, and the reason of `Requeued` when it is opened."""
BLOCKED = "BlockedOnPreemptionGates"
WAITING_FOR_REPLACEMENTS = "WaitingForReplacementPods"
OWNER_GONE = "The workload's owner no longer exists"
NO_RESERVATION = "The workload has no reservation"
_ON_HOLD = dict.fromkeys(("ClusterQueueStopped", "LocalQueueStopped", ON_HOLD), ON_HOLD)
"""Reasons for which a workload waits for somebody to open its queue, or ask for its pods."""
_RETURNS_AT_ONCE = ("Preempted", "NodeFailures", "FlavorMigration")
"""Reasons of evictions after which a workload is requeued as soon as its quota is released."""
_WHY: Mapping[PreemptionReason, str] = {
    PreemptionReason.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    PreemptionReason.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    PreemptionReason.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING: (
        "reclamation within the cohort while borrowing"
    ),
    PreemptionReason.MOVED: "a move to another place, which opens a domain of a topology",
}


def evict(workload: Workload, step: Evict, now: float, *, preempted: str = "") -> bytes:
    """Set `Evicted`, and `Preempted` if `preempted` is the reason of a preemption.

    All admission checks are reset. `PodsReady` becomes False (WaitForStart) if the status has it,
    or if this eviction is for pods that never were ready. A workload without quota is put on hold
    or requeued in the same write.
    """
    conditions = conditions_of(workload, now)
    reason = step.wire_reason
    conditions.set("Evicted", true=True, reason=reason, message=step.message)
    if preempted:
        conditions.set("Preempted", true=True, reason=preempted, message=step.message)
    conditions.drop("DeactivationTarget")
    if conditions.reason("PodsReady") or _is_for_its_pods(step):
        unready = PodsUnready.WAIT_FOR_START
        conditions.set("PodsReady", true=False, reason=unready, message="Not all pods are ready")
    status: dict[str, Any] = {"schedulingStats": _counted(workload, step)}
    status |= _requeue_state(workload, step)
    if workload.status.unhealthy_nodes:
        status["unhealthyNodes"] = None
    known = workload.status.admission_checks
    if any(one.state != "Pending" for one in known):
        status["admissionChecks"] = [checks.reset(one, now) for one in known]
    if not conditions.is_true("QuotaReserved"):
        _set_aside(conditions, reason, step.message)
    return status_patch(workload, status, conditions)


def preemption_message(decision: Preempt, job_uid: str) -> str:
    """Return the message of a victim: its preemptor, with uid, and the paths of both queues."""
    return (
        f"Preempted to accommodate a workload (UID: {decision.preemptor_uid},"
        f" JobUID: {job_uid or 'UNKNOWN'}) due to {_WHY[decision.reason]};"
        f" preemptor path: {decision.preemptor_path}; preemptee path: {decision.victim_path}"
    )


def migration_message(decision: Preempt) -> str:
    """Return the message of a variant that makes way for one in a more favorable flavor."""
    return (
        f"Evicted to accommodate a workload (UID: {decision.preemptor_uid})"
        " due to migration to more favorable resource flavor"
    )


def release(workload: Workload, now: float) -> bytes:
    """Release an evicted workload's quota, once nothing of it runs any more."""
    conditions = conditions_of(workload, now)
    reason, message = conditions.reason("Evicted"), conditions.message("Evicted")
    _set_aside(conditions, reason, message)
    started = workload.status.condition("Admitted")
    status: dict[str, Any] = {"admission": None}
    if started is not None and started.status == "True":
        ran_s = max(int(now - started.changed), 0)
        before_s = workload.status.accumulated_past_execution_time_seconds
        status["accumulatedPastExecutionTimeSeconds"] = before_s + ran_s
    return status_patch(workload, status, conditions)


def hold(workload: Workload, message: str, now: float) -> bytes:
    """Take back the quota of a Workload, if it has any, and queue it no more until `resume`."""
    conditions = conditions_of(workload, now)
    _set_aside(conditions, ON_HOLD, message)
    return status_patch(workload, {"admission": None}, conditions)


def resume(workload: Workload, message: str, now: float) -> bytes:
    """Queue a Workload again that was on hold."""
    conditions = conditions_of(workload, now)
    reason = Reason.PENDING_EVALUATION
    conditions.set("QuotaReserved", true=False, reason=reason, message=message)
    conditions.drop("Requeued")
    return status_patch(workload, {}, conditions)


def requeue(workload: Workload, step: Requeue, now: float) -> bytes:
    """Set `Requeued` of a workload that was on hold, and end its backoff.

    For a reactivated one the count of its attempts and its execution time begin anew.
    """
    conditions = conditions_of(workload, now)
    returned(conditions, step.reason)
    status: dict[str, Any] = {}
    if step.reason is Return.REACTIVATED:
        status |= {"requeueState": None, "accumulatedPastExecutionTimeSeconds": None}
    elif workload.status.requeue_state is not None:
        status["requeueState"] = {"requeueAt": None}
    return status_patch(workload, status, conditions)


def set_aside(workload: Workload, step: SetAside, now: float) -> bytes:
    """Say that the cluster has too few devices for a workload, or take that back."""
    conditions = conditions_of(workload, now)
    if step.message:
        reason = Reason.MISCONFIGURED
        conditions.set("QuotaReserved", true=False, reason=reason, message=step.message)
        conditions.set("Requeued", true=False, reason=INADMISSIBLE, message=step.message)
        if conditions.is_true("Admitted"):
            unadmit(conditions, "NoReservation", NO_RESERVATION)
    else:
        conditions.drop("QuotaReserved")
        conditions.drop("Requeued")
    return status_patch(workload, {}, conditions)


def returned(conditions: Conditions, reason: Return) -> None:
    """Set `Requeued` to True, with the reason for which the workload is queued again."""
    conditions.set("Requeued", true=True, reason=reason, message=RETURN_MESSAGES[reason])


def condemn(workload: Workload, step: Condemn, now: float) -> bytes:
    """Set `DeactivationTarget`: the workload will be deactivated by the next write, and why."""
    conditions = conditions_of(workload, now)
    conditions.set("DeactivationTarget", true=True, reason=step.cause, message=step.message)
    return status_patch(workload, {}, conditions)


def deactivate(workload: Workload) -> bytes:
    """Set `spec.active` to false."""
    return patch(workload.metadata, {"spec": {"active": False}})


def wait(workload: Workload, decision: Wait, now: float) -> bytes:
    """Write into `QuotaReserved` why the workload waits."""
    conditions = conditions_of(workload, now)
    conditions.set("QuotaReserved", true=False, reason=decision.reason, message=decision.message)
    if conditions.is_true("Admitted"):
        unadmit(conditions, "NoReservation", NO_RESERVATION)
    if decision.message == GATED:
        conditions.set(BLOCKED, true=True, reason="PreemptionGated", message=GATED)
    return status_patch(workload, {}, conditions)


def pods_ready(workload: Workload, *, ready: bool, now: float) -> bytes:
    """Set `PodsReady`: all pods are ready, or some no longer are."""
    conditions = conditions_of(workload, now)
    lost_before = conditions.reason("PodsReady") == PodsUnready.WAIT_FOR_RECOVERY
    if ready:
        message = "All pods reached readiness and the workload is running"
        reason = "Recovered" if lost_before else "Started"
        conditions.set("PodsReady", true=True, reason=reason, message=message)
    else:
        message = "At least one pod has failed, waiting for recovery"
        reason = PodsUnready.WAIT_FOR_RECOVERY
        conditions.set("PodsReady", true=False, reason=reason, message=message)
    return status_patch(workload, {}, conditions)


def await_replacements(workload: Workload, *, awaits: bool, now: float) -> bytes:
    """Set `WaitingForReplacementPods`: a group lacks pods that failed or were deleted, or not."""
    conditions = conditions_of(workload, now)
    reason, message = "PodsReady", "No pods need replacement"
    if awaits and conditions.is_true("Evicted"):
        reason, message = conditions.reason("Evicted"), conditions.message("Evicted")
    elif awaits:
        reason, message = "PodsFailed", "Some Failed pods need replacement"
    conditions.set(WAITING_FOR_REPLACEMENTS, true=awaits, reason=reason, message=message)
    return status_patch(workload, {}, conditions)


def finish(workload: Workload, reason: str, message: str, now: float) -> bytes:
    """Set `Finished`, by reason Succeeded, Failed, OutOfSync, OwnerNotFound or FailedToStart."""
    conditions = conditions_of(workload, now)
    conditions.set("Finished", true=True, reason=reason, message=message)
    return status_patch(workload, {}, conditions)


def reclaim(workload: Workload, counts: Mapping[str, int], now: float) -> bytes:
    """Write `reclaimablePods`: pods that will not be needed again; counts only grow."""
    pods = [{"name": name, "count": count} for name, count in counts.items()]
    return status_patch(workload, {"reclaimablePods": pods}, conditions_of(workload, now))


def drop_finalizer(workload: Workload) -> bytes:
    """Remove our finalizer from a Workload."""
    kept = [name for name in workload.metadata.finalizers if name != RESOURCE_IN_USE]
    return patch(workload.metadata, {"metadata": {"finalizers": kept or None}})


def change_spec(workload: Workload, fields: Mapping[str, Any]) -> bytes:
    """Set fields of the spec; None removes one."""
    return patch(workload.metadata, {"spec": dict(fields)})


def follow(workload: Workload, fields: Mapping[str, Any], gates: str) -> bytes:
    """Set fields of the spec, and the annotation of admission gates."""
    annotations = {ADMISSION_GATED_BY: gates or None}
    return patch(
        workload.metadata, {"metadata": {"annotations": annotations}, "spec": dict(fields)}
    )


def _is_for_its_pods(step: Evict) -> bool:
    """Say whether a Workload is evicted because its pods were not ready in time."""
    late = step.reason is EvictionReason.PODS_READY_TIMEOUT
    return late or step.cause == Cause.REQUEUING_LIMIT_EXCEEDED


def _set_aside(conditions: Conditions, reason: str, message: str) -> None:
    """Requeue a workload without quota, or put it on hold until the eviction's reason is over."""
    waits_as = _ON_HOLD.get(reason)
    if reason.startswith("Deactivated"):
        waits_as = "Deactivated"
    conditions.set(
        "QuotaReserved", true=False, reason=waits_as or "PendingEvaluation", message=message
    )
    if conditions.reason("Admitted"):
        unadmit(conditions, "NoReservation", NO_RESERVATION)
    conditions.set("Requeued", true=reason in _RETURNS_AT_ONCE, reason=reason, message=message)


def _requeue_state(workload: Workload, step: Evict) -> dict[str, Any]:
    if step.reason == "Deactivated":
        return {"requeueState": None} if workload.status.requeue_state else {}
    if step.requeue_at is None:
        return {}
    state: dict[str, Any] = {"requeueAt": timestamp(step.requeue_at)}
    if step.requeue_count is not None:
        state["count"] = step.requeue_count
    return {"requeueState": state}


def _counted(workload: Workload, step: Evict) -> dict[str, Any]:
    """Count the eviction in `schedulingStats`."""
    stats = workload.status.scheduling_stats or SchedulingStats()
    counts = {(one.reason, one.underlying_cause): one.count for one in stats.evictions}
    key = (str(step.reason), step.cause)
    counts[key] = counts.get(key, 0) + 1
    return {
        "evictions": [
            {"reason": reason, "underlyingCause": cause, "count": count}
            for (reason, cause), count in counts.items()
        ]
    }
