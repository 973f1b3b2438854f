"""A Job that was given to a gang while it had a Workload of its own."""

from collections.abc import Sequence

from queueing.controller.jobs import ladder, workload_writes
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import Origin
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


def next_action(job: Job, workloads: Sequence[Workload], origin: Origin) -> ladder.Action | None:
    """Return the next write for such a Job.

    While it waits, its own Workload goes and the gang takes it. What holds quota, or runs, is
    brought to its end as the single Job it was admitted as.
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
