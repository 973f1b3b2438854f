"""Jobs that name a prebuilt Workload (label `kueue.x-k8s.io/prebuilt-workload-name`).

The Workload is adopted as it is: it is neither created, changed nor deleted to fit the Job. If the
two do not match, the Workload finishes with the reason OutOfSync, and the Job stays suspended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import override

from queueing.controller.jobs.actions import Action, Adopt, Complain, Finish, Stop
from queueing.controller.jobs.alone import Alone
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.parts import Part
from queueing.translate import labels
from queueing.translate.jobs.composition import named_owner, owner_reference
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

NOT_THERE = "The prebuilt workload does not exist"
TAKEN = "The prebuilt workload belongs to another job"
OUT_OF_SYNC = "The prebuilt workload is out of sync with its user job"


@dataclass(frozen=True, slots=True)
class Prebuilt(Alone):
    """A gang of one part whose Workload was there first."""

    lacks: str = NOT_THERE
    """Why there is no Workload, if there is none."""
    lost: ClassVar[str] = OUT_OF_SYNC

    @override
    def before(self, gang: Gang) -> Action | None:
        (job,) = gang.jobs.values()
        return adoption(job, gang.workloads[0]) if gang.workloads else None

    @override
    def assemble(self, gang: Gang) -> Action | None:
        if not gang.candidates:
            return None
        job = gang.candidates[0]
        return Complain(job, self.lacks) if job.suspended else Stop((job,), self.lacks)

    @override
    def while_pending(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        return self.misfit(workload, parts[0].lost) if parts[0].lost else None

    @override
    def misfit(self, workload: Workload, why: str) -> Action:
        return Finish(workload, "OutOfSync", why)


def found(workload: Workload | None, job: JobView) -> tuple[Prebuilt, Sequence[Workload]]:
    """Return the form of a Job that names this Workload, and its Workloads: one or none."""
    if workload is None:
        return Prebuilt(lacks=NOT_THERE), ()
    taken = any(uid != job.metadata.uid for uid in _controllers(workload))
    return (Prebuilt(lacks=TAKEN), ()) if taken else (Prebuilt(), (workload,))


def adoption(job: JobView, workload: Workload) -> Adopt | None:
    """Return the step by which a Job takes a Workload that no other has; None if it need not."""
    over = workload.finished or workload.metadata.deleting
    if over or job.metadata.deleting or _controllers(workload):
        return None
    return Adopt(workload, job)


def adopted(action: Adopt) -> dict[str, Any]:
    """Return the fields of the Workload's metadata that a merge patch sets for an adoption."""
    job = action.job
    mine = owner_reference(job.kind.api_version, job.kind.kind, job.metadata)
    return {
        **owned_too(action.workload, [mine]),
        "labels": {labels.JOB_UID: job.metadata.uid},
        "annotations": named_owner(job.kind, job.metadata),
    }


def owned_too(workload: Workload, more: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of a Workload's metadata that a merge patch sets for more owners."""
    meta = workload.metadata
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
    fields: dict[str, Any] = {"ownerReferences": [*kept, *more]}
    if labels.RESOURCE_IN_USE in meta.finalizers:
        return fields
    # Else it would be deleted together with the Job, and its quota free while pods still run.
    return {**fields, "finalizers": [*meta.finalizers, labels.RESOURCE_IN_USE]}


def _controllers(workload: Workload) -> list[str]:
    return [one.uid for one in workload.metadata.owner_references if one.controller]
