"""Several jobs with one gang label: a part each, in a Workload that all of them own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from queueing.controller.jobs.actions import (
    Action,
    BreakUp,
    Create,
    Discard,
    Finish,
    Match,
    Stop,
    Tell,
)
from queueing.controller.jobs.gangs import Form, Gang, living
from queueing.controller.jobs.parts import Part
from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import Priority, max_execution_time
from queueing.translate.jobs.gang import (
    Incomplete,
    OnFailure,
    Refused,
    Whole,
    on_failure,
    part_of,
    pod_set_names,
    told,
    verdict,
)
from queueing.translate.jobs.gang_keys import gang_key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

NOT_ADMITTED = "Not admitted by cluster queue"
NO_WORKLOAD = "The gang has no Workload"


@dataclass(frozen=True, slots=True)
class Together(Form):
    """The form of gangs that have a name."""

    several: ClassVar[bool] = True
    is_rehearsed: ClassVar[bool] = True

    @override
    def owners(self, gang: Gang, workload: Workload) -> Sequence[JobView]:
        uids = (owner.uid for owner in workload.metadata.owner_references)
        return [gang.jobs[uid] for uid in uids if uid in gang.jobs]

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        owners = self.owners(gang, workload)
        theirs = {name: job for job in owners for name in pod_set_names(job)}
        # Pods of a job that cannot be told just now are those that no other job has.
        unread = next((job for job in owners if not job.pod_sets), None)
        names: dict[Key, list[str]] = {}
        jobs: dict[Key, JobView | None] = {}
        for one in workload.spec.pod_sets:
            job = theirs.get(one.name, unread)
            key = job.key if job is not None else Key(one.name)
            names.setdefault(key, []).append(one.name)
            jobs[key] = job
        return [_part(gang, part_of(workload, *names[key]), job) for key, job in jobs.items()]

    @override
    def fits(self, gang: Gang, workload: Workload) -> tuple[bool, bool]:
        return _names_all(gang, workload), True

    @override
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        failed = [one for one in parts if one.failure is not None]
        if failed and on_failure(workload.metadata) is OnFailure.FAIL:
            return Finish(workload, "Failed", f"{failed[0].name} failed: {failed[0].failure}")
        if not all(one.ended for one in parts):
            return None
        if failed:
            why = "; ".join(f"{one.name}: {one.failure}" for one in failed)
            return Finish(workload, "Failed", f"{len(failed)} of {len(parts)} Jobs failed: {why}")
        return Finish(workload, "Succeeded", "All Jobs of the gang finished successfully")

    @override
    def assemble(self, gang: Gang) -> Action | None:
        if not gang.candidates:
            return None
        running = [job for job in gang.candidates if not job.suspended]
        if running:
            return Stop(running, NO_WORKLOAD)
        found = verdict(gang.candidates)
        if isinstance(found, Whole):
            return Create(found.members)
        state = "Incomplete" if isinstance(found, Incomplete) else "Refused"
        return _tell(gang.candidates, f"{state}: {found.message}")

    @override
    def while_pending(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        if any(one.ended for one in parts):
            # It ran before. Members that finished are no candidates; the others must still exist.
            broken = next((one.lost for one in parts if one.lost), "")
            return Discard(workload, broken) if broken else _tell_surplus(gang, workload)
        found = verdict(gang.candidates) if gang.candidates else None
        if not isinstance(found, Whole) or not _names_all(gang, workload):
            why = (
                found.message if isinstance(found, Incomplete | Refused) else "its Jobs are others"
            )
            return Discard(workload, why)
        names = {name for job in found.members for name in pod_set_names(job)}
        lacks = names != {one.name for one in workload.spec.pod_sets}
        if lacks or any(one.lost for one in parts) or _follows_not(found.members[0], workload):
            return Match(workload, found.members, follows=True)
        return _tell(found.members, "")

    @override
    def broken(self, workload: Workload, parts: Sequence[Part], why: str) -> Action | None:
        """Return the eviction by which all the others are stopped, if any run."""
        admitted = workload.status.is_true("Admitted") and workload.status.admission is not None
        if any(one.runs or (admitted and one.departed) for one in parts):
            return BreakUp(workload, f"The gang cannot run as one: {why}")
        return None

    @override
    def at_rest(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        members = [job for _, job in living(parts)]
        return _tell(members, "") or _tell_surplus(gang, workload)

    @override
    def compose(
        self, members: Sequence[JobView], priority: Priority, labels_to_copy: Sequence[str]
    ) -> tuple[str, bytes]:
        body = gang_workload.compose(members, priority, labels_to_copy)
        return gang_workload.name_of(members), body


TOGETHER = Together()


def _part(gang: Gang, view: Workload, job: JobView | None) -> Part:
    known = {one.name: one.count for one in view.status.reclaimable_pods}
    over = all(known.get(one.name, -1) >= one.count for one in view.spec.pod_sets)
    ended = over if job is None else job.ended
    return Part(
        view=view,
        job=job,
        ended=ended,
        lost="" if ended else _loss(gang, view, job),
        departed=not ended and (job is None or job.metadata.deleting),
    )


def _loss(gang: Gang, view: Workload, job: JobView | None) -> str:
    if job is None:
        return f"the Job of pod set {view.spec.pod_sets[0].name} is gone"
    if job.metadata.deleting:
        return f"{told(job)} is being deleted"
    if gang_key(job.metadata) != gang.key:
        return f"{told(job)} left the gang"
    if not job.fits(view):
        return f"{told(job)} is no longer what the Workload speaks of"
    return ""


def _tell_surplus(gang: Gang, workload: Workload) -> Action | None:
    """Tell Jobs that came too late that the gang runs without them; stop those that run."""
    named = {owner.uid for owner in workload.metadata.owner_references}
    late = [one for one in gang.candidates if one.metadata.uid not in named]
    running = [one for one in late if not one.suspended]
    if running:
        return Stop(running, NOT_ADMITTED)
    return _tell(late, f"Refused: Workload {workload.metadata.name} runs without this Job")


def _tell(jobs: Sequence[JobView], text: str) -> Action | None:
    unaware = [job for job in jobs if job.metadata.annotations.get(labels.GANG_STATE, "") != text]
    return Tell(unaware, text) if unaware else None


def _names_all(gang: Gang, workload: Workload) -> bool:
    named = {owner.uid for owner in workload.metadata.owner_references}
    return named == {job.metadata.uid for job in gang.candidates}


def _follows_not(first: JobView, workload: Workload) -> bool:
    spec, reference = workload.spec, workload.spec.priority_class_ref
    kind = "WorkloadPriorityClass"
    named = reference.name if reference is not None and reference.kind == kind else ""
    return (
        spec.queue_name != first.metadata.labels.get(labels.QUEUE_NAME, "")
        or named != first.metadata.labels.get(labels.PRIORITY_CLASS, "")
        or spec.maximum_execution_time_seconds != max_execution_time(first.metadata)
    )
