"""The life of a Workload besides quota: checks, stops, timeouts, deactivation, return, retention.

`judge` is a function of the Workload's own fact, its queues' doors and the time: it says the one
next step that is due and, if none is, when to look again. Steps are idempotent, and each is one
write, so that a crash between two of them changes nothing but the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from queueing.core.backoff import Backoff
from queueing.core.facts import CheckPhase, StopPolicy, WorkloadFact


class Phase(StrEnum):
    """Where a Workload stands."""

    PENDING = "Pending"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    """Told to stop; quota is held until its pods are gone."""
    ON_HOLD = "OnHold"
    """Free of quota, and not to be queued until something happens."""
    INACTIVE = "Inactive"
    FINISHED = "Finished"


class Event(StrEnum):
    """What moves a Workload from one phase to the next."""

    QUOTA_RESERVED = "QuotaReserved"
    CHECKS_READY = "ChecksReady"
    EVICTION = "Eviction"
    RELEASED_TO_QUEUE = "ReleasedToQueue"
    RELEASED_ON_HOLD = "ReleasedOnHold"
    REQUEUED = "Requeued"
    DEACTIVATION = "Deactivation"
    REACTIVATION = "Reactivation"
    FINISH = "Finish"


TRANSITIONS: Mapping[tuple[Phase, Event], Phase] = MappingProxyType(
    {
        (Phase.PENDING, Event.QUOTA_RESERVED): Phase.RESERVED,
        (Phase.PENDING, Event.EVICTION): Phase.ON_HOLD,
        (Phase.PENDING, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.PENDING, Event.FINISH): Phase.FINISHED,
        (Phase.RESERVED, Event.CHECKS_READY): Phase.ADMITTED,
        (Phase.RESERVED, Event.EVICTION): Phase.EVICTED,
        (Phase.RESERVED, Event.FINISH): Phase.FINISHED,
        (Phase.ADMITTED, Event.EVICTION): Phase.EVICTED,
        (Phase.ADMITTED, Event.FINISH): Phase.FINISHED,
        (Phase.EVICTED, Event.RELEASED_TO_QUEUE): Phase.PENDING,
        (Phase.EVICTED, Event.RELEASED_ON_HOLD): Phase.ON_HOLD,
        (Phase.EVICTED, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.EVICTED, Event.FINISH): Phase.FINISHED,
        (Phase.ON_HOLD, Event.REQUEUED): Phase.PENDING,
        (Phase.ON_HOLD, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.ON_HOLD, Event.FINISH): Phase.FINISHED,
        (Phase.INACTIVE, Event.REACTIVATION): Phase.PENDING,
        (Phase.INACTIVE, Event.FINISH): Phase.FINISHED,
    }
)


def phase_of(workload: WorkloadFact) -> Phase:
    """Read the phase from what the object says."""
    if workload.is_true("Finished"):
        return Phase.FINISHED
    if workload.holds_quota:
        if workload.is_true("Evicted"):
            return Phase.EVICTED
        return Phase.ADMITTED if workload.is_true("Admitted") else Phase.RESERVED
    if not workload.active:
        return Phase.INACTIVE
    return Phase.ON_HOLD if _held_by(workload) else Phase.PENDING


class EvictionReason(StrEnum):
    """Why a Workload is evicted: the wire's reasons of the `Evicted` condition."""

    PREEMPTED = "Preempted"
    PODS_READY_TIMEOUT = "PodsReadyTimeout"
    ADMISSION_CHECK = "AdmissionCheck"
    CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
    LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
    DEACTIVATED = "Deactivated"
    NODE_FAILURES = "NodeFailures"
    """A node that it runs on goes away, or does not answer."""
    GANG_INTERRUPTED = "GangInterrupted"
    """A member of a gang is gone, or cannot start: all of them stop."""
    DEVICES_CHANGED = "DevicesChanged"
    """Its devices are not those any more that quota was given for."""


class Cause(StrEnum):
    """Why a Workload is deactivated by its controller."""

    REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
    MAXIMUM_EXECUTION_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"
    IDLE = "Idle"
    """Its pods said that they do nothing, for longer than its policy lets them."""
    ADMISSION_CHECK = "AdmissionCheck"
    DEVICE_REQUEST_INVALID = "DeviceRequestInvalid"
    """The API server does not take the claims that an admission would be given."""
    UNSUPPORTED_DEVICE_REQUEST = "UnsupportedDeviceRequest"
    NAME_CONFLICT = "NameConflict"
    """A claim template of somebody else has the name that ours must have."""
    COMPUTE_DOMAINS_NOT_INSTALLED = "ComputeDomainsNotInstalled"
    """A flavor gives its devices within a ComputeDomain, and the server knows no such kind."""


class Return(StrEnum):
    """Why a Workload may queue again: the wire's reasons of `Requeued=True`."""

    REACTIVATED = "Reactivated"
    BACKOFF_FINISHED = "BackoffFinished"
    CLUSTER_QUEUE_RESTARTED = "ClusterQueueRestarted"
    LOCAL_QUEUE_RESTARTED = "LocalQueueRestarted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmAdmission:
    """All checks are ready: set Admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict:
    """Mark as Evicted; the job is stopped and quota released afterwards."""

    reason: EvictionReason
    message: str
    cause: str = ""
    requeue_at: float | None = None
    requeue_count: int | None = None
    """None leaves the count as it is."""

    @property
    def wire_reason(self) -> str:
        """The reason of the condition, with the cause of a deactivation."""
        return f"{self.reason}DueTo{self.cause}" if self.cause else str(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condemn:
    """Set DeactivationTarget: the step before `spec.active` is switched off."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deactivate:
    """Set `spec.active` to false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Set Requeued to True: the Workload may queue again."""

    reason: Return


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Delete the object: its retention is over."""

    with_owner: bool = False
    """Its job goes too: left alone, it would be queued again."""


Step = ConfirmAdmission | Evict | Condemn | Deactivate | Requeue | Remove


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """Stop policies on the Workload's way; None where there is no such queue."""

    local: StopPolicy | None
    cluster: StopPolicy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsReadyRules:
    """How long pods may take to get ready, and what happens then."""

    timeout_s: float = 1800.0
    recovery_timeout_s: float | None = None
    backoff: Backoff = Backoff()  # noqa: RUF009 - frozen, so all may share it


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeRules:
    """What the operator chose; None switches a rule off."""

    pods_ready: PodsReadyRules | None = PodsReadyRules()
    keep_finished_s: float | None = None
    keep_deactivated_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The step that is due now, or the time at which one may become due."""

    step: Step | None = None
    look_again_at: float | None = None


NOTHING = Life()
Rule = Callable[[WorkloadFact, Doors, LifeRules, float], Life]


def judge(workload: WorkloadFact, doors: Doors, rules: LifeRules, now: float) -> Life:
    """Return the next step of a Workload, the first of the rules that has one."""
    if workload.is_true("Finished"):
        return _retire(workload.conditions["Finished"].changed, rules.keep_finished_s, now)
    if workload.deleting:
        return NOTHING
    if not workload.active:
        return _inactive(workload, rules, now)
    if workload.is_true("DeactivationTarget"):
        return Life(step=Deactivate())
    if not workload.holds_quota:
        return _judge_pending(workload, doors, rules, now)
    if workload.is_true("Evicted"):
        return NOTHING  # it drains: its job's controller releases the quota
    return _judge_holder(workload, doors, rules, now)


def _judge_pending(workload: WorkloadFact, doors: Doors, rules: LifeRules, now: float) -> Life:
    """Let it return to its queue, or heed a check that failed once quota was given back.

    No flavors are looked for while a check has failed, and only an eviction asks it again.
    """
    if _held_by(workload):
        return _return(workload, doors, now)
    return _checks(workload, doors, rules, now)


def _judge_holder(workload: WorkloadFact, doors: Doors, rules: LifeRules, now: float) -> Life:
    times: list[float] = []
    for rule in _RULES:
        life = rule(workload, doors, rules, now)
        if life.step is not None:
            return life
        if life.look_again_at is not None:
            times.append(life.look_again_at)
    return Life(look_again_at=min(times, default=None))


def _inactive(workload: WorkloadFact, rules: LifeRules, now: float) -> Life:
    condemned = workload.conditions.get("DeactivationTarget")
    evicted = workload.conditions.get("Evicted")
    if evicted is None or not evicted.status or not evicted.reason.startswith("Deactivated"):
        if condemned is None or not condemned.status:
            return Life(
                step=Evict(reason=EvictionReason.DEACTIVATED, message="The workload is deactivated")
            )
        return Life(
            step=Evict(
                reason=EvictionReason.DEACTIVATED,
                cause=condemned.reason,
                message=f"The workload is deactivated due to {condemned.message}",
            )
        )
    by_controller = evicted.reason != EvictionReason.DEACTIVATED
    if by_controller and not workload.holds_quota:
        return _retire(evicted.changed, rules.keep_deactivated_s, now, with_owner=True)
    return NOTHING


def _return(workload: WorkloadFact, doors: Doors, now: float) -> Life:
    """Let a Workload that was set aside queue again when what it waits for is over."""
    held = _held_by(workload)
    if held.startswith("Deactivated"):
        return Life(step=Requeue(reason=Return.REACTIVATED))
    if held == EvictionReason.CLUSTER_QUEUE_STOPPED:
        return _reopened(doors.cluster, Return.CLUSTER_QUEUE_RESTARTED)
    if held == EvictionReason.LOCAL_QUEUE_STOPPED:
        return _reopened(doors.local, Return.LOCAL_QUEUE_RESTARTED)
    if workload.requeue_at is not None and workload.requeue_at > now:
        return Life(look_again_at=workload.requeue_at)
    return Life(step=Requeue(reason=Return.BACKOFF_FINISHED))


def _reopened(door: StopPolicy | None, reason: Return) -> Life:
    return Life(step=Requeue(reason=reason)) if door is StopPolicy.NONE else NOTHING


def _held_by(workload: WorkloadFact) -> str:
    """Return the reason of `Requeued=False`; empty when nothing holds the Workload."""
    requeued = workload.conditions.get("Requeued")
    return requeued.reason if requeued is not None and not requeued.status else ""


def _checks(workload: WorkloadFact, _: Doors, __: LifeRules, now: float) -> Life:
    states = {check.state for check in workload.checks}
    if CheckPhase.REJECTED in states:
        names = ",".join(
            check.name for check in workload.checks if check.state is CheckPhase.REJECTED
        )
        message = f"Admission check(s): {names}, were rejected"
        return Life(step=Condemn(cause=Cause.ADMISSION_CHECK, message=message))
    if CheckPhase.RETRY in states:
        waits = [
            check.changed + (check.requeue_after_s or 0)
            for check in workload.checks
            if check.state is CheckPhase.RETRY
        ]
        return Life(
            step=Evict(
                reason=EvictionReason.ADMISSION_CHECK,
                message="At least one admission check is false",
                requeue_at=max(*waits, now),
            )
        )
    return NOTHING


def _stops(workload: WorkloadFact, doors: Doors, __: LifeRules, ___: float) -> Life:
    for door, reason, message in (
        (doors.local, EvictionReason.LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped"),
        (doors.cluster, EvictionReason.CLUSTER_QUEUE_STOPPED, "The ClusterQueue is stopped"),
    ):
        held_back = door is StopPolicy.HOLD and not workload.is_true("Admitted")
        if door is StopPolicy.HOLD_AND_DRAIN or held_back:
            return Life(step=Evict(reason=reason, message=message))
    if doors.cluster is None and not workload.is_true("Admitted"):
        message = "The ClusterQueue is gone, so nothing is left to hold quota of"
        return Life(step=Evict(reason=EvictionReason.CLUSTER_QUEUE_STOPPED, message=message))
    return NOTHING


def _confirmation(workload: WorkloadFact, _: Doors, __: LifeRules, ___: float) -> Life:
    ready = all(check.state is CheckPhase.READY for check in workload.checks)
    if workload.is_true("Admitted") or not ready:
        return NOTHING
    return Life(step=ConfirmAdmission())


def _execution_time(workload: WorkloadFact, _: Doors, __: LifeRules, now: float) -> Life:
    if workload.max_execution_s is None or not workload.is_true("Admitted"):
        return NOTHING
    left = workload.max_execution_s - workload.past_execution_s
    ends = workload.conditions["Admitted"].changed + left
    if ends > now:
        return Life(look_again_at=ends)
    message = "exceeding the maximum execution time"
    return Life(step=Condemn(cause=Cause.MAXIMUM_EXECUTION_TIME_EXCEEDED, message=message))


def _pods_ready(workload: WorkloadFact, _: Doors, rules: LifeRules, now: float) -> Life:
    ready = workload.conditions.get("PodsReady")
    started = workload.is_true("Admitted") and not workload.is_true("PodsReady")
    if rules.pods_ready is None or not started:
        return NOTHING
    since, patience_s = workload.conditions["Admitted"].changed, rules.pods_ready.timeout_s
    if ready is not None and ready.reason == "WaitForRecovery":
        since, own_s = ready.changed, rules.pods_ready.recovery_timeout_s
        patience_s = patience_s if own_s is None else own_s
    if since + patience_s > now:
        return Life(look_again_at=since + patience_s)
    attempt = workload.requeue_count + 1
    if rules.pods_ready.backoff.exhausted(attempt):
        message = "exceeding the maximum number of re-queuing retries"
        return Life(step=Condemn(cause=Cause.REQUEUING_LIMIT_EXCEEDED, message=message))
    return Life(
        step=Evict(
            reason=EvictionReason.PODS_READY_TIMEOUT,
            message=f"Exceeded the PodsReady timeout {workload.key}",
            requeue_at=now + rules.pods_ready.backoff.delay_s(attempt),
            requeue_count=attempt,
        )
    )


def _retire(since: float, keep_s: float | None, now: float, *, with_owner: bool = False) -> Life:
    if keep_s is None:
        return NOTHING
    if since + keep_s > now:
        return Life(look_again_at=since + keep_s)
    return Life(step=Remove(with_owner=with_owner))


_RULES: tuple[Rule, ...] = (
    _checks,
    _stops,
    _confirmation,
    _execution_time,
    _pods_ready,
)
"""What may end or confirm the reservation of a Workload that is not Evicted, in Kueue's order."""
