"""Which step of a Workload's life is due: checks, stops, timeouts, deactivation, retention.

`judge` depends on the Workload's fact, the stop policies of its queues and the time. It returns the
next step that is due or, if none is, when to call it again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from queueing.core.devices import INADMISSIBLE
from queueing.core.facts import CheckPhase, StopPolicy, WorkloadFact
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
    Step,
)

ON_HOLD = "OnHold"
"""The reason of `Requeued=False` of a Workload whose object asks for no pods: whoever follows that
object queues it again."""


def held_by(workload: WorkloadFact) -> str:
    """Return the reason of the condition `Requeued=False`; empty if there is none."""
    requeued = workload.conditions.get("Requeued")
    return requeued.reason if requeued is not None and not requeued.status else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPolicies:
    """The stop policies of a Workload's LocalQueue and ClusterQueue; None if there is none."""

    local: StopPolicy | None
    cluster: StopPolicy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequeueBackoff:
    """`base · 2^(attempt-1)` seconds, at most `max_s`; `limit` is the largest number of attempts.

    It is Kueue's `waitForPodsReady.requeuingStrategy` without the jitter of a ten-thousandth, so
    that the same facts give the same times.
    """

    base_s: float = 60.0
    max_s: float = 3600.0
    limit: int | None = None

    def delay_s(self, attempt: int) -> float:
        """Return the wait after the given attempt, the first being 1."""
        exponent = min(attempt - 1, 62)  # beyond that the maximum is reached anyway
        return min(self.base_s * float(2**exponent), self.max_s)

    def exhausted(self, attempt: int) -> bool:
        """Say whether an attempt exceeds the limit."""
        return self.limit is not None and attempt > self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsReadyRules:
    """How long pods may take to become ready, and the backoff after that (`waitForPodsReady`)."""

    timeout_s: float = 1800.0
    recovery_timeout_s: float | None = None
    backoff: RequeueBackoff = RequeueBackoff()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeRules:
    """The configuration of these rules; None switches a rule off."""

    pods_ready: PodsReadyRules | None = PodsReadyRules()
    keep_finished_s: float | None = None
    keep_deactivated_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The step that is due now, or the time (epoch seconds) at which one may become due."""

    step: Step | None = None
    look_again_at: float | None = None


NOTHING = Life()


Rule = Callable[[WorkloadFact, StopPolicies, LifeRules, float], Life]


def judge(workload: WorkloadFact, stops: StopPolicies, rules: LifeRules, now: float) -> Life:
    """Return the next step of a Workload: that of the first rule that has one."""
    if workload.finished:
        return _retire(workload.conditions["Finished"].changed, rules.keep_finished_s, now)
    if workload.deleting:
        return NOTHING
    if workload.variant is not None:  # its parent has the pods, and is kept as long as its job
        rules = replace(rules, pods_ready=None, keep_deactivated_s=None)
    if not workload.active:
        return _inactive(workload, rules, now)
    if workload.condemned:
        return Life(step=Deactivate())
    if not workload.holds_quota:
        return _judge_pending(workload, stops, rules, now)
    if workload.evicted:
        return NOTHING  # the controller of its job releases the quota when the pods are gone
    return _judge_holder(workload, stops, rules, now)


def told_to_leave(workload: WorkloadFact, stops: StopPolicies) -> Evict | None:
    """Return the eviction that a deactivation or a stopped queue requires, at any time.

    None if there is none, or the workload holds no quota, or is evicted or being deleted already.
    """
    if not workload.holds_quota or workload.deleting or workload.evicted:
        return None
    if workload.active and not workload.condemned:
        step = _stops(workload, stops, LifeRules(), 0.0).step
    else:
        step = _inactive(workload, LifeRules(), 0.0).step
    return step if isinstance(step, Evict) else None


def _judge_pending(
    workload: WorkloadFact, stops: StopPolicies, rules: LifeRules, now: float
) -> Life:
    """Return the step of a pending Workload: to requeue or hold it, or to handle a failed check.

    A workload with a failed check is not nominated, and only an eviction resets the check.
    """
    held = held_by(workload)
    if held and held != INADMISSIBLE:
        return _return(workload, stops, now)
    told = workload.conditions["Requeued"].message if held else ""
    if told != workload.unserved:
        return Life(step=SetAside(message=workload.unserved))
    if held:
        return NOTHING
    return _checks(workload, stops, rules, now) if workload.checks else NOTHING


def _judge_holder(
    workload: WorkloadFact, stops: StopPolicies, rules: LifeRules, now: float
) -> Life:
    times: list[float] = []
    for rule in _RULES:
        life = rule(workload, stops, rules, now)
        if life.step is not None:
            return life
        if life.look_again_at is not None:
            times.append(life.look_again_at)
    return Life(look_again_at=min(times, default=None))


def _inactive(workload: WorkloadFact, rules: LifeRules, now: float) -> Life:
    condemned = workload.conditions.get("DeactivationTarget")
    evicted = workload.conditions.get("Evicted")
    if evicted is None or not evicted.status or not evicted.reason.startswith("Deactivated"):
        cause, message = "", "The workload is deactivated"
        if condemned is not None and condemned.status:
            cause, message = condemned.reason, f"{message} due to {condemned.message}"
        return Life(step=Evict(reason=EvictionReason.DEACTIVATED, cause=cause, message=message))
    by_controller = evicted.reason != EvictionReason.DEACTIVATED
    if by_controller and not workload.holds_quota:
        return _retire(evicted.changed, rules.keep_deactivated_s, now, with_owner=True)
    return NOTHING


def _return(workload: WorkloadFact, stops: StopPolicies, now: float) -> Life:
    """Requeue a Workload that is on hold when its cause is over."""
    held = held_by(workload)
    if held == ON_HOLD:
        return NOTHING
    if held.startswith("Deactivated"):
        return Life(step=Requeue(reason=Return.REACTIVATED))
    if held == EvictionReason.CLUSTER_QUEUE_STOPPED:
        return _reopened(stops.cluster, Return.CLUSTER_QUEUE_RESTARTED)
    if held == EvictionReason.LOCAL_QUEUE_STOPPED:
        return _reopened(stops.local, Return.LOCAL_QUEUE_RESTARTED)
    if workload.requeue_at is not None and workload.requeue_at > now:
        return Life(look_again_at=workload.requeue_at)
    return Life(step=Requeue(reason=Return.BACKOFF_FINISHED))


def _reopened(policy: StopPolicy | None, reason: Return) -> Life:
    return Life(step=Requeue(reason=reason)) if policy is StopPolicy.NONE else NOTHING


def _checks(workload: WorkloadFact, _: StopPolicies, __: LifeRules, now: float) -> Life:
    if not workload.checks:
        return NOTHING
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


def _stops(workload: WorkloadFact, stops: StopPolicies, __: LifeRules, ___: float) -> Life:
    for policy, reason, message in (
        (stops.local, EvictionReason.LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped"),
        (stops.cluster, EvictionReason.CLUSTER_QUEUE_STOPPED, "The ClusterQueue is stopped"),
    ):
        held_back = policy is StopPolicy.HOLD and not workload.admitted
        if policy is StopPolicy.HOLD_AND_DRAIN or held_back:
            return Life(step=Evict(reason=reason, message=message))
    if stops.cluster is None and not workload.admitted:
        message = "The ClusterQueue is gone, so nothing is left to hold quota of"
        return Life(step=Evict(reason=EvictionReason.CLUSTER_QUEUE_STOPPED, message=message))
    return NOTHING


def _confirmation(workload: WorkloadFact, _: StopPolicies, __: LifeRules, ___: float) -> Life:
    if workload.admitted or any(one.state is not CheckPhase.READY for one in workload.checks):
        return NOTHING
    if workload.admission is not None and any(one.delayed for one in workload.admission.pod_sets):
        return NOTHING  # it is admitted with the places of its pods, by its second pass
    return Life(step=ConfirmAdmission())


def _execution_time(workload: WorkloadFact, _: StopPolicies, __: LifeRules, now: float) -> Life:
    if workload.max_execution_s is None or not workload.admitted or workload.variant:
        return NOTHING
    left = workload.max_execution_s - workload.past_execution_s
    ends = workload.conditions["Admitted"].changed + left
    if ends > now:
        return Life(look_again_at=ends)
    message = "exceeding the maximum execution time"
    return Life(step=Condemn(cause=Cause.MAXIMUM_EXECUTION_TIME_EXCEEDED, message=message))


def _pods_ready(workload: WorkloadFact, _: StopPolicies, rules: LifeRules, now: float) -> Life:
    ready = workload.conditions.get("PodsReady")
    started = workload.admitted and not workload.pods_ready
    if rules.pods_ready is None or not started:
        return NOTHING
    since, patience_s = workload.conditions["Admitted"].changed, rules.pods_ready.timeout_s
    cause = PodsUnready.WAIT_FOR_START
    if ready is not None and ready.reason == PodsUnready.WAIT_FOR_RECOVERY:
        cause = PodsUnready.WAIT_FOR_RECOVERY
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
            cause=cause,
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
"""The rules for a Workload that holds quota and is not Evicted, in Kueue's order."""
