"""Decides the next step for a gang, by its jobs and Workloads as they are. Pure.

Called by `reconciler` alone, at each look at a Job or a gang, and never remembered.

One Job is a gang of one part. The order of the steps is what keeps a gang consistent: a job is
unsuspended only while its Workload is Admitted. A gang is stopped in one order: all jobs are
suspended, all pods end, all templates are restored, and only then is quota released, or the
finalizer of a deleted Workload removed. The pods of parts whose jobs were deleted count as well.
"""

from collections.abc import Sequence
from dataclasses import replace

from queueing.controller.jobs.actions import (
    Action,
    AwaitPods,
    BreakUp,
    Discard,
    LetGo,
    LetPodsGo,
    PutOnHold,
    Ready,
    Reclaim,
    Release,
    Restore,
    Start,
    Stop,
    TakeOffHold,
    WorkloadWrite,
)
from queueing.controller.jobs.gangs import Gang, living
from queueing.controller.jobs.parts import Part
from queueing.lifecycle.rules import ON_HOLD
from queueing.lifecycle.steps import EvictionReason
from queueing.translate import labels
from queueing.translate.jobs.gang_keys import gang_key
from queueing.translate.wire.workloads import Workload

NOT_ADMITTED = "Not admitted by cluster queue"
DELETED = "Workload is deleted"
HELD, HELD_NO_MORE = "Job is on hold", "Job no longer on hold; waiting for quota reservation"
ANOTHER = "another Workload stands for the gang"
LET_GO_WITHIN_S = 60.0
"""Seconds for which our finalizer may stay on a Workload that has finished."""


def next_action(gang: Gang) -> Action | None:
    """Return the next step; None when there is none, or something must happen first."""
    first = gang.form.before(gang)
    if first is not None:
        return first
    live: list[Workload] = []
    for one in gang.workloads:
        if not one.finished:
            live.append(one)
        elif (action := _after_the_end(gang, one)) is not None:
            return action
    if len(live) > 1:
        live.sort(key=lambda one: _rank(gang, one))
    awaited: list[AwaitPods] = []
    for other in live[1:]:
        action = _remove(gang, other, keeping=live[0])
        if isinstance(action, AwaitPods):
            awaited.append(action)
        elif action is not None:
            return action
    action = _stand(gang, live[0]) if live else gang.form.assemble(gang)
    for wait in awaited:
        action = replace(wait, meanwhile=action)
    return action


def _rank(gang: Gang, workload: Workload) -> tuple[bool, bool, bool, bool, float, str]:
    """Order Workloads by which of them may stand for the gang, the first.

    It is one that is not being deleted, then one that fits, then one that holds quota, then one
    with the name that it would be given, then the oldest.
    """
    meta, (fits, named) = workload.metadata, gang.form.fits(gang, workload)
    return (
        meta.deleting,
        not fits,
        workload.status.admission is None,
        not named,
        meta.created,
        meta.name,
    )


def _stand(gang: Gang, workload: Workload) -> Action | None:
    """Return the next step for the Workload that represents the gang."""
    status, form = workload.status, gang.form
    if workload.metadata.deleting:
        action = _remove(gang, workload)
        if isinstance(action, AwaitPods):
            return replace(action, meanwhile=_begin_anew(gang, workload))
        return action
    parts = form.parts(gang, workload)
    end = form.ending(workload, parts)
    if end is not None:
        return _wind_down(gang, parts, end.message, _once_gone(workload, parts, end))
    holds, evicted = status.is_true("QuotaReserved"), status.true_condition("Evicted")
    is_leaving = holds and evicted is not None  # its pods may run on: they are stopped first
    on_hold = not form.several and any(one.job is not None and one.job.on_hold for one in parts)
    if on_hold and not is_leaving:
        put = PutOnHold(workload, HELD)
        return None if status.is_set_aside(ON_HOLD) else _once_gone(workload, parts, put)
    lost = next((one.lost for one in parts if one.lost), "")
    if not holds:
        then = form.while_pending(gang, workload, parts)
        if then is None and not form.several and status.is_set_aside(ON_HOLD):
            then = TakeOffHold(workload, HELD_NO_MORE)
        return _wind_down(gang, parts, lost or NOT_ADMITTED, then)
    if evicted is not None:
        release = _once_gone(workload, parts, form.release(gang, workload))
        then = form.misfit(workload, lost) if lost else release
        return _wind_down(gang, parts, evicted.message, then, leaves=True)
    admitted = status.is_true("Admitted") and status.admission is not None
    if lost:
        broken = form.broken(workload, parts, lost)
        if broken is not None:
            return broken
        return _wind_down(gang, parts, lost, form.misfit(workload, lost))
    if not admitted:
        return _wind_down(gang, parts, NOT_ADMITTED, None)
    return _while_admitted(gang, workload, parts)


def _wind_down(
    gang: Gang, parts: Sequence[Part], reason: str, then: Action | None, *, leaves: bool = False
) -> Action | None:
    """Suspend all jobs, wait for their pods, restore their templates; `then` when that is done.

    `leaves` says that the Workload gives up its quota, or is deleted.
    """
    left = living(parts)
    running = [(one, job) for one, job in left if not job.suspended]
    if running:
        originals = {job.key: one.view for one, job in running}
        jobs = [job for _, job in running]
        return Stop(jobs, reason, mark=not gang.form.several, originals=originals)
    if any(job.active for _, job in left):
        return None
    dirty = [one for one, _ in left if _is_dirty(gang, one, leaves=leaves)]
    if any(one.job is not None and not one.job.pod_sets for one in dirty):
        return _without_quota(dirty)
    return Restore(dirty) if dirty else then


def _without_quota(parts: Sequence[Part]) -> Action | None:
    """Take the quota of a job that is stopped and cannot be read, so that it cannot be restored.

    Its Workload knows what its templates were, and keeps our finalizer until they are that again.
    It is deleted before its quota is free, so that nobody admits it anew meanwhile.
    """
    workload = parts[0].view
    if not workload.metadata.deleting:
        return Discard(workload)
    if not workload.status.is_true("QuotaReserved"):
        return None
    if workload.status.true_condition("Evicted") is None:
        why = "; ".join(one.job.problem for one in parts if one.job is not None)
        return BreakUp(workload, f"The job cannot be read: {why}", EvictionReason.UNREADABLE)
    return _once_gone(workload, parts, Release(workload))


def _is_dirty(gang: Gang, part: Part, *, leaves: bool) -> bool:
    """Say whether a template still has what the start added.

    A single Job has a mark while it is stopped by us. Others may have started it before: so of a
    Workload that leaves, whatever differs is restored. Where users may have edited the template,
    and for kinds that have no other mark, only the annotation of our start tells that it has to be.
    """
    job = part.job
    if job is None or part.departed or (job.metadata.deleting and not leaves):
        return False
    if job.stopping:
        return True
    edited = bool(part.lost) and part.view.status.admission is not None
    if gang.form.several or edited or job.marks_its_start:
        return job.was_started and job.differs(part.view)
    return leaves and not part.lost and job.differs(part.view)


def _once_gone(workload: Workload, parts: Sequence[Part], then: WorkloadWrite) -> Action:
    """Let a write that releases quota wait for pods of which no job's status tells.

    They are those of jobs that were deleted, and of kinds whose status may lag behind.
    """
    awaited = [one for one in parts if one.departed or _is_silent(one)]
    holds = workload.status.is_true("QuotaReserved")
    return AwaitPods(awaited, then) if awaited and holds else then


def _is_silent(part: Part) -> bool:
    """Say whether pods of a job may run although its status does not say so."""
    return part.job is not None and not (part.ended or part.job.tells_of_all_pods)


def _remove(gang: Gang, workload: Workload, keeping: Workload | None = None) -> Action | None:
    """Delete a Workload, stop its jobs but those of `keeping`, and then remove our finalizer."""
    if not workload.metadata.deleting:
        return Discard(workload, ANOTHER)
    form = gang.form
    kept = {one.metadata.uid for one in form.owners(gang, keeping)} if keeping is not None else ()
    parts = [
        one
        for one in form.parts(gang, workload)
        if one.job is None or one.job.metadata.uid not in kept
    ]
    then = _once_gone(workload, parts, LetGo(workload)) if is_held_by_us(workload) else None
    staying = [one for one in parts if not one.departed]
    return _wind_down(gang, staying, DELETED, then, leaves=True)


def _begin_anew(gang: Gang, old: Workload) -> Action | None:
    """Return the next step for a new gang of the same name that has no job of the old one."""
    past = {one.metadata.uid for one in gang.form.owners(gang, old)}
    shared = any(one.metadata.uid in past for one in gang.candidates)
    return None if shared else gang.form.assemble(gang)


def _while_admitted(gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
    left = living(parts)
    halted = [one for one, job in left if job.suspended and job.stopping]
    waiting = [one for one, job in left if job.suspended and not job.metadata.deleting]
    if halted:  # an earlier stop is completed first
        return _wind_down(gang, halted, NOT_ADMITTED, None)
    if waiting:
        return Start(workload, waiting, begun=len(waiting) < len(left))
    if any(job.suspended for _, job in left):
        return None
    return (
        _reclaim(gang, workload, parts)
        or _tell_ready(gang, workload, parts)
        or gang.form.at_rest(gang, workload, parts)
    )


def _reclaim(gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
    """Release the quota of pods that will not be needed again, before what only tells."""
    known = {one.name: one.count for one in workload.status.reclaimable_pods}
    free = gang.form.reclaimable(parts)
    counts = {name: max(count, known.get(name, 0)) for name, count in free.items()}
    if all(count <= known.get(name, 0) for name, count in counts.items()):
        return None
    return Reclaim(workload, {name: count for name, count in counts.items() if count})


def _tell_ready(gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
    ready = gang.form.ready(parts)
    return Ready(workload, ready) if ready != workload.status.is_true("PodsReady") else None


def _after_the_end(gang: Gang, workload: Workload) -> Action | None:
    of_gang = gang_key(workload.metadata)
    running = [
        job
        for job in gang.form.owners(gang, workload)
        if of_gang in (None, gang_key(job.metadata))
        and not (job.suspended or job.metadata.deleting or job.ended)
    ]
    if running:
        return Stop(running, NOT_ADMITTED, mark=not gang.form.several)
    return LetGo(workload) if is_held_by_us(workload) else None


def is_held_by_us(workload: Workload) -> bool:
    """Say whether a Workload has our finalizer."""
    return labels.RESOURCE_IN_USE in workload.metadata.finalizers


def patience_s(action: Action, tell_ready_within_s: float) -> float:
    """Return for how many seconds a write may be put off while the API server is slow; mostly 0.

    The finalizer of a finished Workload is in nobody's way, unless that is being deleted. That pods
    are ready need not be written at all if the job finishes meanwhile.
    """
    match action:
        case LetGo(workload=workload):
            return 0.0 if workload.metadata.deleting else LET_GO_WITHIN_S
        case LetPodsGo(pods=pods):
            return 0.0 if any(one.metadata.deleting for one in pods) else LET_GO_WITHIN_S
        case Ready(ready=True):
            return tell_ready_within_s
        case _:
            return 0.0
