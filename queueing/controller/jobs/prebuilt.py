"""Jobs that name a prebuilt Workload (label `kueue.x-k8s.io/prebuilt-workload-name`).

The Workload is adopted as it is: it is neither created, changed nor deleted to fit the Job. If the
two do not match, the Workload finishes with the reason OutOfSync, and the Job stays suspended.
"""

from dataclasses import dataclass
from typing import Any

from queueing.controller.jobs import ladder, workload_writes
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import Origin, named_owner
from queueing.translate.jobs.identity import owner_reference
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

NOT_THERE = "The prebuilt workload does not exist"
TAKEN = "The prebuilt workload belongs to another job"
OUT_OF_SYNC = "The prebuilt workload is out of sync with its user job"


@dataclass(frozen=True, slots=True)
class Adopt:
    """Make the Job the Workload's controlling owner, and add our finalizer."""

    workload: Workload

    def fields(self, job: Job) -> dict[str, Any]:
        """Return the fields of the Workload's metadata that a merge patch sets."""
        meta = self.workload.metadata
        kept = [
            {
                "apiVersion": one.api_version,
                "kind": one.kind,
                "name": one.name,
                "uid": one.uid,
                "controller": one.controller,
                "blockOwnerDeletion": one.block_owner_deletion,
            }
            for one in meta.owner_references
        ]
        mine = owner_reference(batch.KIND.api_version, batch.KIND.kind, job.metadata)
        found = {
            "ownerReferences": [*kept, mine],
            "labels": {labels.JOB_UID: job.metadata.uid},
            "annotations": named_owner(batch.KIND, job.metadata),
        }
        if labels.RESOURCE_IN_USE in meta.finalizers:
            return found
        # Else it would be deleted together with the Job, and its quota free while pods still run.
        return {**found, "finalizers": [*meta.finalizers, labels.RESOURCE_IN_USE]}


@dataclass(frozen=True, slots=True)
class Lacks:
    """Record an Event that the Job waits for its Workload, and why."""

    message: str


def next_action(
    job: Job, workload: Workload | None, origin: Origin
) -> ladder.Action | Adopt | Lacks | None:
    """Return what to do next for a Job and the Workload that it names, None if that is missing."""
    if workload is None:
        return _without(job, NOT_THERE)
    uids = [one.uid for one in workload.metadata.owner_references if one.controller]
    if uids and uids != [job.metadata.uid]:
        return _without(job, TAKEN)
    over = workload.status.is_true("Finished") or workload.metadata.deleting
    if not uids and not over and not job.metadata.deleting:
        return Adopt(workload)
    if not over and batch.finished(job) is None and not batch.equivalent(job, workload):
        return _part(job, workload)
    action = ladder.next_action(job, [workload], origin)
    return None if isinstance(action, ladder.Follow) else action


def _part(job: Job, workload: Workload) -> ladder.Action | None:
    """Finish a Workload that does not match its Job, which is stopped first if it runs."""
    if not job.spec.suspend:
        return ladder.Stop(OUT_OF_SYNC)
    if batch.is_active(job):
        return None
    return workload_writes.Finish(workload, "OutOfSync", OUT_OF_SYNC)


def _without(job: Job, message: str) -> ladder.Action | Lacks | None:
    if job.metadata.deleting or batch.finished(job) is not None:
        return None
    return Lacks(message) if job.spec.suspend else ladder.Suspend(message)
