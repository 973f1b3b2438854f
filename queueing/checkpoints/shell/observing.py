"""What the state of a Workload and its Jobs means for a request to save.

Nothing here writes or awaits; only `workload_of` remembers the preemptors that it found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from queueing.checkpoints.rules.interruptions import Interruption
from queueing.checkpoints.rules.phases import Phase, RequestEvent
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.rules.step import Happening
from queueing.checkpoints.wire.nodes import named_in
from queueing.checkpoints.wire.outbound import epoch_of
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.lifecycle.steps import Cause, EvictionReason
from queueing.state.intake.marks import preemptor_of
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

_NOT_ASKED = frozenset({EvictionReason.PODS_READY_TIMEOUT, EvictionReason.GANG_INTERRUPTED})
"""Reasons of evictions of workloads that do not run as a whole, so that nothing can be saved."""
_UNKNOWN = Interruption("")
"""Stands for the interruption of a node that does not exist any more."""
_DRAIN = "HoldAndDrain"
IDLE = f"{EvictionReason.DEACTIVATED}DueTo{Cause.IDLE}"
"""The reason of `Evicted` for a workload that was deactivated because it was idle."""
PREEMPTORS_MAX = 10_000
"""How many preemptors are remembered; one that was forgotten is searched for again."""
_WHILE_INACTIVE = frozenset({EvictionReason.DEACTIVATED, IDLE})


def is_leaving(workload: Workload) -> bool:
    """Say whether a Workload is evicted and still holds quota."""
    status = workload.status
    return (
        status.is_true("Evicted")
        and status.is_true("QuotaReserved")
        and not status.is_true("Finished")
    )


def is_worth_asking(workload: Workload, jobs: Sequence[JobView]) -> bool:
    """Say whether a Workload that is leaving has pods that could save something."""
    evicted = workload.status.true_condition("Evicted")
    if evicted is None or evicted.reason in _NOT_ASKED or workload.metadata.deleting:
        return False
    return any(
        job.running_pods > 0 and not job.suspended and not job.metadata.deleting for job in jobs
    )


def preemptor_uid(workload: Workload) -> str:
    """Return the uid of a victim's preemptor, by its condition `Preempted`; empty without one."""
    preempted = workload.status.true_condition("Preempted")
    return preemptor_of(preempted.message) or "" if preempted is not None else ""


def owners(objects: Objects, workload: Workload) -> list[JobView]:
    """Return the Jobs that own a Workload, without those that are deleted."""
    keys = (objects.job_keys.get(one.uid) for one in workload.metadata.owner_references)
    return [objects.jobs[key] for key in keys if key is not None]


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What `observe` looks at besides the request itself."""

    objects: Objects
    claimed: Callable[[Key], bool]
    """Says whether a preemptor waits for the quota of this victim."""


def observe(
    record: Record, workload: Workload | None, jobs: Sequence[JobView], world: ClusterView
) -> Happening | None:
    """Return what Workload and Jobs tell of a request, in its phase; None when nothing new.

    `workload` is None when it is deleted. What pods answer is judged elsewhere
    (`rules.answers`).
    """
    if workload is None:
        return Happening(event=RequestEvent.ENDED, message="the Workload is gone")
    over = all(job.ended for job in jobs)
    if workload.finished or over:
        return Happening(event=RequestEvent.ENDED, message="the work ended by itself")
    idle = not any(job.active for job in jobs)
    match record.phase:
        case Phase.SUSPENDING:
            stopped = idle and all(map(_is_stopped, jobs))
            gone = stopped or _has_left(record, workload)
            return Happening(event=RequestEvent.PODS_GONE) if gone else None
        case Phase.DRAINED:
            free = _has_left(record, workload)
            return Happening(event=RequestEvent.QUOTA_RELEASED) if free else None
        case Phase.RELEASED:
            status = workload.status
            back = status.true_condition("Requeued") or status.true_condition("QuotaReserved")
            return Happening(event=RequestEvent.RETURNED) if back is not None else None
        case _:
            pass
    if idle:
        return Happening(event=RequestEvent.PODS_GONE, message="no pod runs any more")
    why = _withdrawn(workload, world)
    return Happening(event=RequestEvent.WITHDRAWN, message=why) if why else None


def _is_stopped(job: JobView) -> bool:
    """Say whether a Job starts no more pods: it is suspended, or has finished (as in a gang)."""
    return job.suspended or job.ended


def _has_left(record: Record, workload: Workload) -> bool:
    """Say whether the eviction of a request is over, by the Workload alone.

    Quota is released only when the pods are gone. When that is seen late, the Jobs may already show
    the pods of the next run.
    """
    return not is_leaving(workload) or epoch_of(workload) > record.request.epoch


def _withdrawn(workload: Workload, world: ClusterView) -> str:
    """Return why an evicted Workload need not be stopped any more; empty when it must be."""
    objects = world.objects
    evicted = workload.status.true_condition("Evicted")
    if evicted is None:
        return "it is evicted no more"
    admission = workload.status.admission
    match evicted.reason:
        case EvictionReason.PREEMPTED:
            served = _preemptor_is_served(preemptor_uid(workload), objects)
            return "" if served and world.claimed(workload.metadata.key) else served
        case EvictionReason.CLUSTER_QUEUE_STOPPED:
            queue = objects.cluster_queues.get(admission.cluster_queue) if admission else None
            opened = queue is not None and queue.spec.stop_policy != _DRAIN
            return "the ClusterQueue is open again" if opened else ""
        case EvictionReason.LOCAL_QUEUE_STOPPED:
            local = objects.local_queues.get(workload.local_queue)
            opened = local is not None and local.spec.stop_policy != _DRAIN
            return "the LocalQueue is open again" if opened else ""
        case EvictionReason.NODE_FAILURES:
            node, _ = named_in(evicted.message)
            stays = objects.checkpoints.nodes.get(node, _UNKNOWN) is None
            return f"node {node} stays" if stays else ""
        case reason if reason in _WHILE_INACTIVE:
            return "it is active again" if workload.spec.active else ""
        case _:
            return ""


def _preemptor_is_served(uid: str, objects: Objects) -> str:
    """Return why a preemptor, given by uid, needs no quota any more; empty when it still does."""
    if not uid:
        return ""
    found = workload_of(uid, objects)
    if found is None or found.metadata.deleting or found.finished:
        return "the workload that needed the room is gone"
    if not found.spec.active:
        return "the workload that needed the room is not active any more"
    if found.status.is_true("QuotaReserved"):
        return "the workload that needed the room found it elsewhere"
    return ""


def workload_of(uid: str, objects: Objects) -> Workload | None:
    """Return the Workload with a uid, a preemptor; None if it is gone.

    Its key is remembered, so that all Workloads are seldom searched.
    """
    preemptors = objects.checkpoints.preemptors
    known = preemptors.get(uid)
    if known is None:
        found = next((one for one in objects.workloads.values() if one.metadata.uid == uid), None)
        if found is not None:
            preemptors[uid] = found.metadata.key
            if len(preemptors) > PREEMPTORS_MAX:
                del preemptors[next(iter(preemptors))]
        return found
    there = objects.workloads.get(known)
    return there if there is not None and there.metadata.uid == uid else None
