"""Decides the next step for a gang, by its Jobs and Workloads as they are. Pure.

A gang is stopped in one order: all Jobs are suspended, all pods end, all templates are restored,
and only then is quota released, or the finalizer of a deleted Workload removed. The pods of members
whose Jobs were deleted count as well; they are listed, because no status tells of them.
"""

from collections.abc import Sequence
from dataclasses import replace

from queueing.controller.gangs.actions import (
    Action,
    AwaitPods,
    BreakUp,
    Create,
    Discard,
    Match,
    Start,
    Stop,
    Tell,
)
from queueing.controller.gangs.actions import Restore as RestoreTemplates
from queueing.controller.gangs.parts import Gang, Part, owners, parts_of
from queueing.controller.jobs.workload_writes import (
    Finish,
    LetGo,
    Ready,
    Reclaim,
    Release,
    WorkloadWrite,
)
from queueing.controller.stores.gang_members import is_finished
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import max_execution_time
from queueing.translate.jobs.gang import (
    Incomplete,
    OnFailure,
    Refused,
    Verdict,
    Whole,
    gang_key,
    on_failure,
    pod_set_name,
    verdict,
)
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

NOT_ADMITTED = "Not admitted by cluster queue"
NO_WORKLOAD = "The gang has no Workload"
DELETED = "Workload is deleted"


def next_action(gang: Gang) -> Action | None:
    """Return the next step; None when there is none, or something must happen first."""
    live = sorted(
        (one for one in gang.workloads if not is_finished(one)),
        key=lambda one: (
            one.metadata.deleting,
            not _names_all(gang, one),
            one.status.admission is None,
            one.metadata.created,
            one.metadata.name,
        ),
    )
    for one in gang.workloads:
        action = _after_the_end(gang, one) if is_finished(one) else None
        if action is not None:
            return action
    awaited: list[AwaitPods] = []
    for other in live[1:]:
        action = _remove(gang, other, keeping=live[0])
        if isinstance(action, AwaitPods):
            awaited.append(action)
        elif action is not None:
            return action
    action = _stand(gang, live[0]) if live else _assemble(gang)
    for wait in awaited:
        action = replace(wait, meanwhile=action)
    return action


def _stand(gang: Gang, workload: Workload) -> Action | None:
    """Return the next step for the Workload that represents the gang."""
    if workload.metadata.deleting:
        action = _remove(gang, workload)
        if isinstance(action, AwaitPods):
            return replace(action, meanwhile=_begin_anew(gang, workload))
        return action
    parts = parts_of(gang, workload)
    end = _ending(workload, parts)
    if end is not None:
        return _wind_down(parts, end.message, _once_gone(workload, parts, end))
    broken = next((one.lost for one in parts if one.lost), "")
    evicted = workload.status.true_condition("Evicted")
    if not workload.status.is_true("QuotaReserved"):
        return _wind_down(parts, NOT_ADMITTED, _while_pending(gang, workload, parts))
    if evicted is not None:
        then = Discard(workload, broken) if broken else Release(workload)
        return _wind_down(parts, evicted.message, then)
    if broken:
        started = workload.status.is_true("Admitted")
        if any(_is_running(one) or (started and _is_departed(one)) for one in parts):
            return BreakUp(workload, f"The gang cannot run as one: {broken}")
        return _wind_down(parts, broken, Discard(workload, broken))
    if not workload.status.is_true("Admitted"):
        return _wind_down(parts, NOT_ADMITTED, None)
    return _while_admitted(workload, parts) or _tell_surplus(gang, workload)


def _wind_down(parts: Sequence[Part], reason: str, then: Action | None) -> Action | None:
    """Suspend all Jobs, wait for their pods, restore their templates; `then` when that is done."""
    left = [one for one in parts if one.job is not None and not one.ended]
    running = [one.job for one in left if one.job is not None and not one.job.spec.suspend]
    if running:
        return Stop(running, reason)
    if any(one.job is not None and batch.is_active(one.job) for one in left):
        return None
    dirty = [one for one in left if one.job is not None and _is_dirty(one.job, one.view)]
    return RestoreTemplates(dirty) if dirty else then


def _once_gone(workload: Workload, parts: Sequence[Part], then: WorkloadWrite) -> Action:
    """Let a write that releases quota wait for the pods of members whose Jobs were deleted."""
    departed = [one for one in parts if _is_departed(one)]
    holds = workload.status.is_true("QuotaReserved")
    return AwaitPods(departed, then) if departed and holds else then


def _is_departed(part: Part) -> bool:
    """Say whether a member's Job was deleted before its end, so that its pods may still run."""
    return not part.ended and (part.job is None or part.job.metadata.deleting)


def _is_dirty(job: Job, view: Workload) -> bool:
    """Say whether the template still has what the start added; `view` is the Job's part alone."""
    return not job.metadata.deleting and batch.was_started(job) and bool(batch.undo(job, view))


def _is_running(part: Part) -> bool:
    if part.job is None or part.ended:
        return False
    return not part.job.spec.suspend or batch.is_active(part.job)


def _remove(gang: Gang, workload: Workload, keeping: Workload | None = None) -> Action | None:
    """Delete a Workload, stop its Jobs but those of `keeping`, and then remove our finalizer."""
    if not workload.metadata.deleting:
        return Discard(workload, "another Workload stands for the gang")
    kept = {one.metadata.uid for one in owners(gang, keeping)} if keeping is not None else set()
    parts = [
        one
        for one in parts_of(gang, workload)
        if one.job is None or one.job.metadata.uid not in kept
    ]
    held = _is_held_by_us(workload)
    then = _once_gone(workload, parts, LetGo(workload)) if held else None
    return _wind_down(parts, DELETED, then)


def _ending(workload: Workload, parts: Sequence[Part]) -> Finish | None:
    """Return how the gang has finished, by its Jobs; None while it has not.

    By its annotation the first failed Job fails the gang, or only all together finish it.
    """
    failed = [one for one in parts if one.failure is not None]
    if failed and on_failure(workload.metadata) is OnFailure.FAIL:
        return Finish(workload, "Failed", f"Job {failed[0].name} failed: {failed[0].failure}")
    if not all(one.ended for one in parts):
        return None
    if failed:
        told = "; ".join(f"{one.name}: {one.failure}" for one in failed)
        return Finish(workload, "Failed", f"{len(failed)} of {len(parts)} Jobs failed: {told}")
    return Finish(workload, "Succeeded", "All Jobs of the gang finished successfully")


def _while_pending(gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
    if any(one.ended for one in parts):
        # It ran before. Members that finished are no candidates; the others must still exist.
        broken = next((one.lost for one in parts if one.lost), "")
        return Discard(workload, broken) if broken else _tell_surplus(gang, workload)
    found = _verdict(gang)
    if not isinstance(found, Whole) or not _names_all(gang, workload):
        why = found.message if isinstance(found, Incomplete | Refused) else "its Jobs are others"
        return Discard(workload, why)
    lacks = {pod_set_name(job.metadata) for job in found.members} != {one.name for one in parts}
    if lacks or any(one.lost for one in parts) or _follows_not(found.members[0], workload):
        return Match(workload, found.members)
    return _tell(found.members, "")


def _while_admitted(workload: Workload, parts: Sequence[Part]) -> Action | None:
    left = [one for one in parts if one.job is not None and not one.ended]
    waiting = [one for one in left if one.job is not None and one.job.spec.suspend]
    if waiting:
        return Start(workload, waiting, begun=len(waiting) < len(left))
    ready = all(one.job is not None and batch.are_pods_ready(one.job) for one in left)
    if ready != workload.status.is_true("PodsReady"):
        return Ready(workload, ready)
    known = {one.name: one.count for one in workload.status.reclaimable_pods}
    counts = {one.name: max(_reclaimable(one), known.get(one.name, 0)) for one in parts}
    if any(count > known.get(name, 0) for name, count in counts.items()):
        return Reclaim(workload, {name: count for name, count in counts.items() if count})
    return _tell([one.job for one in left if one.job is not None], "")


def _reclaimable(part: Part) -> int:
    if part.ended:
        return part.count
    return batch.reclaimable(part.job) if part.job is not None else 0


def _assemble(gang: Gang) -> Action | None:
    """Create a Workload if all members are there, or tell what is missing."""
    found = _verdict(gang)
    if found is None:
        return None
    running = [job for job in gang.candidates if not job.spec.suspend]
    if running:
        return Stop(running, NO_WORKLOAD)
    if isinstance(found, Whole):
        return Create(found.members)
    state = "Incomplete" if isinstance(found, Incomplete) else "Refused"
    return _tell(gang.candidates, f"{state}: {found.message}")


def _begin_anew(gang: Gang, old: Workload) -> Action | None:
    """Return the next step for a new gang of the same name that has no Job of the old one."""
    past = {one.metadata.uid for one in owners(gang, old)}
    shared = any(one.metadata.uid in past for one in gang.candidates)
    return None if shared else _assemble(gang)


def _verdict(gang: Gang) -> Verdict | None:
    return verdict(gang.candidates) if gang.candidates else None


def _tell_surplus(gang: Gang, workload: Workload) -> Action | None:
    """Tell Jobs that came too late that the gang runs without them; stop those that run."""
    named = {owner.uid for owner in workload.metadata.owner_references}
    late = [one for one in gang.candidates if one.metadata.uid not in named]
    running = [one for one in late if not one.spec.suspend]
    if running:
        return Stop(running, NOT_ADMITTED)
    return _tell(late, f"Refused: Workload {workload.metadata.name} runs without this Job")


def _tell(jobs: Sequence[Job], text: str) -> Action | None:
    unaware = [job for job in jobs if job.metadata.annotations.get(labels.GANG_STATE, "") != text]
    return Tell(unaware, text) if unaware else None


def _after_the_end(gang: Gang, workload: Workload) -> Action | None:
    running = [
        job
        for job in owners(gang, workload)
        if gang_key(job.metadata) == gang.key
        and not (job.spec.suspend or job.metadata.deleting)
        and batch.finished(job) is None
    ]
    if running:
        return Stop(running, NOT_ADMITTED)
    return LetGo(workload) if _is_held_by_us(workload) else None


def _names_all(gang: Gang, workload: Workload) -> bool:
    named = {owner.uid for owner in workload.metadata.owner_references}
    return named == {job.metadata.uid for job in gang.candidates}


def _follows_not(first: Job, workload: Workload) -> bool:
    spec, reference = workload.spec, workload.spec.priority_class_ref
    kind = "WorkloadPriorityClass"
    named = reference.name if reference is not None and reference.kind == kind else ""
    return (
        spec.queue_name != first.metadata.labels.get(labels.QUEUE_NAME, "")
        or named != first.metadata.labels.get(labels.PRIORITY_CLASS, "")
        or spec.maximum_execution_time_seconds != max_execution_time(first.metadata)
    )


def _is_held_by_us(workload: Workload) -> bool:
    return labels.RESOURCE_IN_USE in workload.metadata.finalizers
