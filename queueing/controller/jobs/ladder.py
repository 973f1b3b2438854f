"""Decides the one next write for a Job and its Workloads, as they are. Pure.

The order of the writes is what keeps a Job consistent: it is unsuspended only while its Workload is
Admitted; when it is stopped, its pod template is restored before its quota is released; and quota
is released only when no pod of it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.controller.jobs.workload_writes import (
    Finish,
    LetGo,
    Ready,
    Reclaim,
    Release,
    WorkloadWrite,
)
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import Origin, follows
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Create:
    """Create the Job's Workload."""


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete a Workload that is one too many, or whose pod sets differ from the Job's."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Match:
    """Write the Job's pod sets into its Workload, which has no quota."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Follow:
    """Write queue, priority, time limit and gates of the Job into its Workload without quota."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Start:
    """Unsuspend the Job, with what its admission adds to the pod template."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Suspend:
    """Suspend a Job that was not started by us: its template has nothing to restore."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Suspend the Job, and mark it as stopping until `Restore` has restored its template."""

    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore the suspended Job's pod template from its Workload, and remove the mark."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class AwaitPods:
    """Remove our finalizer from the Workload once the pods of a Job that is being deleted ended."""

    then: LetGo


Action = (
    Create | Discard | Match | Follow | Start | Suspend | Stop | Restore | AwaitPods | WorkloadWrite
)

LET_GO_WITHIN_S = 60.0
"""Seconds for which our finalizer may stay on a Workload that has finished."""

NOT_ADMITTED = "Not admitted by cluster queue"
NO_MATCH = "No matching Workload"


def next_action(job: Job, workloads: Sequence[Workload], origin: Origin) -> Action | None:
    """Return the next write; None when there is none, or something must happen first.

    `workloads` are those that belong to the Job, by owner reference or label. `origin` tells the
    name that its Workload gets.
    """
    workload, others = choose(job, workloads, origin)
    for other in others:
        if not other.metadata.deleting:
            return Discard(other)
        if _held_by_us(other):
            return LetGo(other)
    if workload is None:
        return _without_workload(job)
    if workload.status.is_true("Finished"):
        return _after_the_end(job, workload)
    if workload.metadata.deleting:
        return _wind_up(job, workload)
    end = batch.finished(job)
    if end is not None:
        succeeded, message = end
        return Finish(workload, "Succeeded" if succeeded else "Failed", message)
    if not batch.equivalent(job, workload):
        return _mismatch(job, workload)
    if workload.status.is_true("Evicted") and workload.status.is_true("QuotaReserved"):
        return _drain(job, workload)
    if job.spec.suspend:
        return _while_suspended(job, workload)
    if not _is_admitted(workload):
        return Stop(NOT_ADMITTED)
    return _while_running(job, workload)


def choose(
    job: Job, workloads: Sequence[Workload], origin: Origin
) -> tuple[Workload | None, list[Workload]]:
    """Return the Workload that represents the Job, and the others, which must go.

    Of several: one that is not being deleted, then one whose pod sets equal the Job's, then one
    that holds quota, then the one with the name that the Job's Workload gets, then the oldest.
    """
    if not workloads:
        return None, []
    ranked = sorted(
        workloads,
        key=lambda one: (
            one.metadata.deleting,
            not batch.equivalent(job, one),
            one.status.admission is None,
            one.metadata.name != origin.name,
        ),
    )
    return ranked[0], ranked[1:]


def _without_workload(job: Job) -> Action | None:
    if job.metadata.deleting or batch.finished(job) is not None:
        return None
    missing = "Missing Workload; unable to restore pod templates"
    return Create() if job.spec.suspend else Suspend(missing)


def _after_the_end(job: Job, workload: Workload) -> Action | None:
    if not job.spec.suspend and batch.finished(job) is None and not job.metadata.deleting:
        return Stop(NOT_ADMITTED)
    return LetGo(workload) if _held_by_us(workload) else None


def _wind_up(job: Job, workload: Workload) -> Action | None:
    """Stop the Job of a Workload that is being deleted, then remove our finalizer from this."""
    if not _held_by_us(workload):
        return None
    if batch.finished(job) is not None:
        return LetGo(workload)
    if job.metadata.deleting:
        # With foreground propagation its pods go first, and take their grace period.
        holds = workload.status.is_true("QuotaReserved")
        return AwaitPods(LetGo(workload)) if holds else LetGo(workload)
    return _halt(job, workload, "Workload is deleted") or _unless_active(job, LetGo(workload))


def _drain(job: Job, workload: Workload) -> Action | None:
    evicted = workload.status.condition("Evicted")
    why = "" if evicted is None else evicted.message
    return _halt(job, workload, why) or _unless_active(job, Release(workload))


def _halt(job: Job, workload: Workload, reason: str) -> Action | None:
    """Suspend, wait for the pods to end, restore; None while waiting, and when all is done."""
    if not job.spec.suspend:
        return Stop(reason)
    if batch.is_active(job):
        return None
    return Restore(workload) if batch.is_stopping(job) or batch.undo(job, workload) else None


def _unless_active(job: Job, action: Action) -> Action | None:
    return None if batch.is_active(job) else action


def _mismatch(job: Job, workload: Workload) -> Action | None:
    reserved = workload.status.admission is not None
    if job.spec.suspend and not reserved and not job.metadata.deleting:
        return Match(workload)
    if not job.spec.suspend:
        return Stop(NO_MATCH)
    if batch.was_started(job):
        return _halt(job, workload, NO_MATCH) or _unless_active(job, Discard(workload))
    return _unless_active(job, Discard(workload))


def _while_suspended(job: Job, workload: Workload) -> Action | None:
    if job.metadata.deleting:
        return None
    if batch.is_stopping(job):
        return _unless_active(job, Restore(workload))
    if _is_admitted(workload):
        return Start(workload)
    if not workload.status.is_true("QuotaReserved") and not follows(job.metadata, workload):
        return Follow(workload)
    return None


def _while_running(job: Job, workload: Workload) -> Action | None:
    reclaimable = batch.reclaimable(job)
    known = sum(one.count for one in workload.status.reclaimable_pods)
    if reclaimable > known:
        return Reclaim(workload, {batch.MAIN: reclaimable})  # frees quota, so it comes first
    ready = batch.are_pods_ready(job)
    return Ready(workload, ready) if ready != workload.status.is_true("PodsReady") else None


def patience_s(action: Action, tell_ready_within_s: float) -> float:
    """Return for how many seconds a write may be put off while the API server is slow; mostly 0.

    The finalizer of a finished Workload is in nobody's way, unless that is being deleted. That pods
    are ready need not be written at all if the Job finishes meanwhile.
    """
    match action:
        case LetGo(workload=workload):
            return 0.0 if workload.metadata.deleting else LET_GO_WITHIN_S
        case Ready(ready=True):
            return tell_ready_within_s
        case _:
            return 0.0


def _is_admitted(workload: Workload) -> bool:
    """Say whether a Job may run: `Admitted` counts only together with a reservation of quota."""
    holds = workload.status.admission is not None and workload.status.is_true("QuotaReserved")
    return holds and workload.status.is_true("Admitted")


def _held_by_us(workload: Workload) -> bool:
    return labels.RESOURCE_IN_USE in workload.metadata.finalizers
