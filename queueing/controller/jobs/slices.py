"""An elastic job: a gang of one part that grows and shrinks while it runs, by slices.

The slice that stands for the job is the newest that is admitted. When the job grows, a second one
is made that is to replace it, and is charged only the difference; when that is admitted, the first
finishes. When the job shrinks, its slice does in place, once the pods beyond it have ended. So
there are two slices at most, and only while the job waits to grow. Pods that no admitted slice
covers stay gated (`ungating`).

A slice that is evicted goes the way of all Workloads, and takes the one that waits to replace it
along: it comes back with as many pods as the job wants then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
from typing_extensions import override

from queueing.controller.jobs.actions import (
    Action,
    Follow,
    Grow,
    Reclaim,
    Release,
    Resize,
    Supersede,
    Ungate,
    WorkloadWrite,
)
from queueing.controller.jobs.alone import Alone
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.parts import Part
from queueing.controller.stores.objects import Objects
from queueing.translate.jobs.composition import Origin, follows
from queueing.translate.jobs.slices import (
    OUT_OF_SYNC,
    OUT_OF_SYNC_MESSAGE,
    REPLACED,
    counts_in,
    counts_of,
    grows,
    replaces,
    resized,
)
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Sliced(Alone):
    """The form of an elastic job."""

    generation: str
    """What tells the slices of the job apart that were made at different times."""
    standing: Workload | None = None
    """The slice that stands for the job; None without any."""
    following: Workload | None = None
    """The slice that is to replace it."""
    surplus: Sequence[Workload] = ()
    """Slices that have done their part."""

    @override
    def before(self, gang: Gang) -> Action | None:
        (job,) = gang.jobs.values()
        standing, following = self.standing, self.following
        if standing is None:
            return None
        if self.surplus:
            return _supersede(self.surplus[0], standing, job)
        if following is not None and _is_obsolete(job, standing, following):
            return Supersede(following, OUT_OF_SYNC, OUT_OF_SYNC_MESSAGE)
        over = job.ended or job.on_hold or job.metadata.deleting
        if over or _leaves(standing) or not _holds(standing):
            return None
        if not self._fits(job, standing):
            return None
        if not grows(counts_of(job.pod_sets), standing):
            return _shrink(job, standing)
        if following is None:
            return Grow(standing, self.origin(job))
        return _follow(job, following)

    @override
    def owners(self, gang: Gang, workload: Workload) -> Sequence[JobView]:
        """Return the job; a slice for which others stand has none any more."""
        stood_for = self.standing is not None and workload is not self.standing
        return () if stood_for else super(Sliced, self).owners(gang, workload)

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        """Return the one part, whose job is ready when all pods are that its slice covers."""
        (job,) = gang.jobs.values()
        fit = job.ended or self._fits(job, workload)
        if job.ready_pods is not None:
            wanted = counts_of(job.pod_sets)
            needed = sum(min(n, wanted.get(name, n)) for name, n in counts_in(workload).items())
            job = replace(job, ready=job.ready_pods >= needed)
        (part,) = super(Sliced, self).parts(gang, workload)
        return (replace(part, job=job, lost="" if fit else self.lost),)

    @override
    def fits(self, gang: Gang, workload: Workload) -> tuple[bool, bool]:
        (job,) = gang.jobs.values()
        return self._fits(job, workload), workload is self.standing

    @staticmethod
    def _fits(job: JobView, workload: Workload) -> bool:
        """Say whether a slice is of the job as it is; while it holds quota, for any size of it."""
        if _holds(workload):
            workload = resized(workload, counts_of(job.pod_sets))
        return job.fits(workload)

    @override
    def release(self, gang: Gang, workload: Workload) -> WorkloadWrite:
        """Return the write that releases the quota of an evicted slice.

        If another one is admitted by now, the job goes on with that.
        """
        following = self.following
        if following is None:
            return Release(workload)
        (job,) = gang.jobs.values()
        return _supersede(workload, following, job)

    @override
    def at_rest(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        """Let new pods go, unless the job says that all of them run; shrink when others ended."""
        job = parts[0].job
        if job is None or job.ended:
            return None
        wanted = counts_of(job.pod_sets)
        if not grows(wanted, workload) and wanted != counts_in(workload):
            return Ungate(workload, job, wanted)
        return None if job.tells_of_all_pods and job.ready else Ungate(workload, job)

    @override
    def origin(self, job: JobView, labels_to_copy: Sequence[str] = ()) -> Origin:
        made = super(Sliced, self).origin(job, labels_to_copy)
        return replace(made, generation=self.generation)


def found(workloads: Sequence[Workload], generation: str) -> tuple[Sliced, Sequence[Workload]]:
    """Return the form of an elastic job with these Workloads, the oldest first.

    Also those of them that the ladder is to look at: all but slices that wait, or are done.
    """
    live = [one for one in workloads if not one.finished]
    over = len(workloads) - len(live)
    # One that was given up for this generation has its name still.
    generation = f"{generation}-{over}" if over else generation
    if not live:
        return Sliced(generation), workloads
    holding = [one for one in live if _holds(one)]
    admitted = [one for one in holding if one.status.is_true("Admitted")]
    staying = [one for one in live if not one.metadata.deleting]
    leaving = [one for one in admitted if _leaves(one)]
    choice = next(those for those in (leaving, admitted, holding, staying, live) if those)
    standing = _newest(choice)
    others = [one for one in staying if one is not standing]
    newer = [one for one in others if replaces(one, standing)]
    following = _newest(newer) if newer else None
    surplus = [one for one in others if one is not following]
    hidden = {one.metadata.uid for one in others}
    shown = [one for one in workloads if one.metadata.uid not in hidden]
    return Sliced(generation, standing, following, surplus), shown


def _newest(slices: Sequence[Workload]) -> Workload:
    """Return the slice that none of the others replaces: times of creation are whole seconds."""
    last = (one for one in slices if not any(replaces(other, one) for other in slices))
    return next(last, slices[-1])


def _holds(workload: Workload) -> bool:
    return workload.status.admission is not None and workload.status.is_true("QuotaReserved")


def _leaves(workload: Workload) -> bool:
    return workload.status.is_true("Evicted") or workload.metadata.deleting


def _supersede(workload: Workload, by: Workload, job: JobView) -> Supersede:
    """Return the end of a slice for which another one stands now."""
    meta = by.metadata
    if not replaces(by, workload):
        return Supersede(workload, OUT_OF_SYNC, OUT_OF_SYNC_MESSAGE)
    told = f"(UID: {meta.uid}, JobUID: {job.metadata.uid})"
    message = f"Replaced to accommodate a workload {told} due to workload slice aggregation"
    return Supersede(workload, REPLACED, message)


def _is_obsolete(job: JobView, standing: Workload, following: Workload) -> bool:
    """Say whether nothing will come of a slice that waits to replace the standing one.

    Not if it is admitted: then the standing one, which was evicted before, goes first.
    """
    if job.ended or job.metadata.deleting:
        return True
    if following.status.is_true("Admitted"):
        return False
    return _leaves(standing) or not _holds(standing) or not grows(counts_of(job.pod_sets), standing)


def _shrink(job: JobView, standing: Workload) -> Action | None:
    """Return the step by which a slice shrinks in place; None if it need not, or must wait.

    Pods that were needed no more may be needed again among the fewer that are left. That is written
    first, so that the slice is never charged too little. While the job runs, or pods of it do that
    was suspended, they are looked at last (`at_rest`): the quota of those that must go is free when
    they have ended.
    """
    wanted = counts_of(job.pod_sets)
    if wanted == counts_in(standing):
        return None
    needless = {one.name: one.reclaimable for one in job.pod_sets}
    known = {one.name: one.count for one in standing.status.reclaimable_pods}
    kept = {name: min(count, needless.get(name, count)) for name, count in known.items()}
    if kept != known:
        return Reclaim(standing, kept)
    runs = standing.status.is_true("Admitted") and (job.active or not job.suspended)
    return None if runs else Resize(standing, wanted)


def _follow(job: JobView, following: Workload) -> Action | None:
    """Return the step by which a slice that waits to replace another one follows the job.

    One that holds quota already, and waits for its checks, stays as it is until it is admitted.
    """
    if _holds(following):
        return Release(following) if _leaves(following) else None
    wanted = counts_of(job.pod_sets)
    if counts_in(following) != wanted:
        return Resize(following, wanted)
    return None if follows(job.metadata, following) else Follow(following, job)


def as_scaled(job: JobView, objects: Objects) -> tuple[JobView, str]:
    """Return an elastic job with as many pods as it has, and what tells its slices apart.

    That is its generation, with those of the clusters that it owns: autoscalers edit the RayCluster
    of a RayJob, whose own spec then does not say how many pods there are.
    """
    generation = str(job.metadata.generation)
    names = {one.name for one in job.pod_sets}
    owned = () if job.suspended else objects.jobs_by_owner.groups.get(job.metadata.uid, ())
    clusters = [
        one
        for one in map(objects.jobs.__getitem__, sorted(owned))
        if one.pod_sets and names.issuperset(two.name for two in one.pod_sets)
    ]
    if not clusters:
        return job, generation
    counts: dict[str, int] = {}
    for one in (two for cluster in clusters for two in cluster.pod_sets):
        counts[one.name] = max(counts.get(one.name, 0), one.count)
    pod_sets = tuple(
        msgspec.structs.replace(one, count=counts.get(one.name, one.count)) for one in job.pod_sets
    )
    # A cluster that takes the place of another one counts its generations anew.
    told = (generation, *(f"{one.metadata.uid}.{one.metadata.generation}" for one in clusters))
    return replace(job, pod_sets=pod_sets), "_".join(told)
