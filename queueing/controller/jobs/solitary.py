"""Jobs that joined a gang while they had a Workload of their own."""

from collections.abc import Sequence

from queueing.controller.jobs import ladder, workload_writes
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import Origin
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


def next_action(job: Job, workloads: Sequence[Workload], origin: Origin) -> ladder.Action | None:
    """Return the next write for such a Job; None when the gang may have it.

    If it only waits, its own Workload is deleted, and the gang's Workload then includes it. If it
    holds quota or runs, it is first brought to its end as the single Job that was admitted.
    """
    held = any(one.status.admission is not None for one in workloads)
    if held or not job.spec.suspend or batch.is_active(job) or batch.finished(job) is not None:
        return ladder.next_action(job, workloads, origin)
    for workload in workloads:
        if not workload.metadata.deleting:
            return ladder.Discard(workload)
        if labels.RESOURCE_IN_USE in workload.metadata.finalizers:
            return workload_writes.LetGo(workload)
    return None
