"""A gang as it is seen, and the pod sets of its Workload, each with its Job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queueing.core.names import Key
from queueing.translate.jobs import batch
from queueing.translate.jobs.gang import gang_key, part_of, pod_set_name
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """All that the ladder looks at; `membership` collects it."""

    key: Key
    """`namespace/name`, by the label of its Jobs."""
    candidates: Sequence[Job]
    """Jobs with its label that may become members of a new Workload, in order of their names."""
    jobs: Mapping[str, Job]
    """Jobs by uid: those with its label, and those that its Workloads name as owners."""
    workloads: Sequence[Workload]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One pod set of the gang's Workload, and its Job."""

    name: str
    count: int
    view: Workload
    """The Workload with this pod set alone, as the functions for single Jobs expect it."""
    job: Job | None
    """None when it is deleted."""
    ended: bool
    """The Job has finished, and needs its pods' quota no longer."""
    lost: str
    """Why the Job can no longer be a part of the gang; empty when it can."""

    @property
    def failure(self) -> str | None:
        """Why the Job failed; None when it did not."""
        end = batch.finished(self.job) if self.job is not None else None
        return end[1] if end is not None and not end[0] else None


def parts_of(gang: Gang, workload: Workload) -> list[Part]:
    """Return the parts of a Workload, in the order of its pod sets."""
    by_name = {pod_set_name(job.metadata): job for job in owners(gang, workload)}
    return [
        _part(gang, part_of(workload, one.name), by_name.get(one.name))
        for one in workload.spec.pod_sets
    ]


def owners(gang: Gang, workload: Workload) -> list[Job]:
    """Return the Jobs that a Workload names as owners, by uid, without those that are deleted."""
    uids = (owner.uid for owner in workload.metadata.owner_references)
    return [gang.jobs[uid] for uid in uids if uid in gang.jobs]


def _part(gang: Gang, view: Workload, job: Job | None) -> Part:
    pod_set = view.spec.pod_sets[0]
    known = {one.name: one.count for one in view.status.reclaimable_pods}
    over = pod_set.name in known and known[pod_set.name] >= pod_set.count
    ended = over if job is None else batch.finished(job) is not None
    return Part(
        name=pod_set.name,
        count=pod_set.count,
        view=view,
        job=job,
        ended=ended,
        lost="" if ended else _loss(gang, view, job),
    )


def _loss(gang: Gang, view: Workload, job: Job | None) -> str:
    name = view.spec.pod_sets[0].name
    if job is None:
        return f"the Job of pod set {name} is gone"
    if job.metadata.deleting:
        return f"Job {job.metadata.name} is being deleted"
    if gang_key(job.metadata) != gang.key:
        return f"Job {job.metadata.name} left the gang"
    if not batch.equivalent(job, view):
        return f"Job {job.metadata.name} is no longer what the Workload speaks of"
    return ""
