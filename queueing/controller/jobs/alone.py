"""One Job by itself: a gang of one part, whose Workload it controls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from queueing.controller.jobs.actions import (
    Action,
    Create,
    Discard,
    Finish,
    Follow,
    LetGo,
    Match,
    Stop,
)
from queueing.controller.jobs.gangs import Form, Gang
from queueing.controller.jobs.parts import Part
from queueing.translate import labels
from queueing.translate.jobs.composition import Origin, Priority, compose, follows
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

NO_MATCH = "No matching Workload"
MISSING = "Missing Workload; unable to restore pod templates"


@dataclass(frozen=True, slots=True)
class Alone(Form):
    """The form of most gangs."""

    lost: ClassVar[str] = NO_MATCH

    @override
    def owners(self, gang: Gang, workload: Workload) -> Sequence[JobView]:
        return tuple(gang.jobs.values())

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        """Return the one part. A Job that is being deleted is waited for like any other.

        Unless its Workload is being deleted as well: then its pods are listed.
        """
        (job,) = gang.jobs.values()
        ended = job.ended
        fit = ended or job.fits(workload)
        leaves = job.metadata.deleting and workload.metadata.deleting
        part = Part(
            view=workload,
            job=job,
            ended=ended,
            lost="" if fit else self.lost,
            departed=leaves and not ended,
        )
        return (part,)

    @override
    def fits(self, gang: Gang, workload: Workload) -> tuple[bool, bool]:
        (job,) = gang.jobs.values()
        named = workload.metadata.name == self.origin(job).name
        return job.fits(workload), named

    @override
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        job = parts[0].job
        if job is None or job.end is None:
            return None
        reason = "Succeeded" if job.end.succeeded else "Failed"
        return Finish(workload, reason, job.end.message)

    @override
    def assemble(self, gang: Gang) -> Action | None:
        if not gang.candidates:
            return None
        job = gang.candidates[0]
        if not job.suspended:
            return Stop((job,), MISSING)
        return Create((job,)) if job.pod_sets else None

    @override
    def while_pending(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        job = parts[0].job
        if job is None or job.metadata.deleting:
            return None
        if parts[0].lost:
            return Match(workload, (job,)) if job.pod_sets else Discard(workload)
        return None if follows(job.metadata, workload) else Follow(workload, job)

    @override
    def compose(
        self, members: Sequence[JobView], priority: Priority, labels_to_copy: Sequence[str]
    ) -> tuple[str, bytes]:
        origin = self.origin(members[0], labels_to_copy)
        return origin.name, compose(origin, members[0].wire_pod_sets(), priority)

    def origin(self, job: JobView, labels_to_copy: Sequence[str] = ()) -> Origin:
        """Return what the Job's Workload is made from."""
        return Origin(kind=job.kind, metadata=job.metadata, labels_to_copy=labels_to_copy)


ALONE = Alone()


@dataclass(frozen=True, slots=True)
class Joining(Alone):
    """The form of a Job that joined a gang while it had a Workload of its own.

    If it only waits, that is deleted, and the gang's Workload then includes the Job. A Job that
    holds quota or runs is first brought to its end as the single Job that was admitted.
    """

    @override
    def before(self, gang: Gang) -> Action | None:
        if not _only_waits(gang):
            return None
        for workload in gang.workloads:
            if not workload.metadata.deleting:
                return Discard(workload)
            if labels.RESOURCE_IN_USE in workload.metadata.finalizers:
                return LetGo(workload)
        return None


JOINING = Joining()


def _only_waits(gang: Gang) -> bool:
    """Say whether a Job neither runs, nor has ended, nor holds quota."""
    (job,) = gang.jobs.values()
    held = any(one.status.admission is not None for one in gang.workloads)
    return not held and job.suspended and not job.active and not job.ended
