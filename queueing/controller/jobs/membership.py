"""Collects the jobs and Workloads of a gang, and reads jobs that seem to be deleted."""

from collections.abc import Iterator, Sequence

from queueing.controller.jobs import prebuilt, slices
from queueing.controller.jobs.alone import ALONE, JOINING
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.gangs import Form, Gang
from queueing.controller.jobs.owners import Owners
from queueing.controller.jobs.pod_alone import of_pod
from queueing.controller.jobs.prebuilt_group import form_of_group
from queueing.controller.jobs.together import TOGETHER
from queueing.core.names import Key, name_of
from queueing.translate import labels
from queueing.translate.jobs.composition import prebuilt_name
from queueing.translate.jobs.gang import as_admitted
from queueing.translate.jobs.gang_keys import group_of_workload, is_of_pods, workload_key
from queueing.translate.jobs.pods.view import KIND, PodJob
from queueing.translate.jobs.slices import asks_to_be_elastic, is_superseded
from queueing.translate.jobs.view import JobView
from queueing.translate.requests import Surroundings
from queueing.translate.wire.meta import OwnerReference
from queueing.translate.wire.workloads import Workload

_GONE_MAX = 10_000


class Membership:
    """Reads `objects`, and the API server only before a member counts as deleted."""

    def __init__(self, dependencies: Dependencies, owners: Owners) -> None:
        term, self._is_managed = dependencies.term, dependencies.is_managed
        self._objects, self._writes, self._owners = term.objects, term.writes, owners
        self._elastic = dependencies.rules.elastic
        self._gone: dict[str, None] = {}
        """Owners of groups, by uid, that the API server does not have any more."""

    def of_job(self, job: JobView, workloads: Sequence[Workload]) -> Gang:
        """Return the gang that one Job is by itself, with its own Workloads or a prebuilt one.

        One that a gang of several claims is by itself only as long as it has Workloads.
        """
        if job.problem:  # what it asks for may be said by an object that is gone
            job = _as_admitted(job, workloads)
        form: Form = ALONE
        found: Sequence[Workload] = workloads
        if workloads and self._objects.gangs.claims(job):
            form = JOINING
        elif self._objects.jobs_by_prebuilt.groups and (named := prebuilt_name(job.metadata)):
            there = self._objects.workloads.get(Key(f"{job.metadata.namespace}/{named}"))
            form, found = prebuilt.found(there, job)
        elif labels.ELASTIC in job.metadata.annotations and self._is_elastic(job):
            job, generation = slices.as_scaled(job, self._objects)
            form, found = slices.found(workloads, generation)
        return alone(job, found, of_pod(form) if isinstance(job, PodJob) else form)

    def _is_elastic(self, job: JobView) -> bool:
        return job.kind.group_kind in self._elastic and asks_to_be_elastic(job.metadata)

    async def gather(self, key: Key) -> Gang:
        """Return a gang of several Jobs as it is.

        Raises KubeError when a missing Job cannot be read.
        """
        if is_of_pods(key):
            return await self._pod_group(key)
        await self._look_for_missing(key)
        workloads = self._workloads(key)
        jobs = {job.metadata.uid: job for job in self._labelled(key)}
        over: set[str] = set()
        for workload in workloads:
            for owner in workload.metadata.owner_references:
                if workload.finished:
                    over.add(owner.uid)
                known = self._objects.job_keys.get(owner.uid)
                if known is not None:
                    jobs[owner.uid] = self._objects.jobs[known]
        for workload in workloads:
            if workload.status.admission is not None and not workload.finished:
                jobs |= as_admitted(list(jobs.values()), workload)
        candidates = [
            job
            for job in self._labelled(key)
            if job.metadata.uid not in over
            and self._may_join(job)
            and not await self._owners.is_part(job)
        ]
        return Gang(key=key, form=TOGETHER, candidates=candidates, jobs=jobs, workloads=workloads)

    async def _pod_group(self, key: Key) -> Gang:
        """Return a group of pods with its Workload, which has its name.

        Pods that the Workload names are of the group whatever their labels say, and whether or not
        the watch, which is by a label, shows them. Pods without one that are not managed are none.
        """
        named = workload_key(key)
        there = self._objects.workloads.get(named)
        found = {one: self._objects.jobs[one] for one in self._objects.gangs.jobs[key]}
        if there is not None and group_of_workload(there.metadata) == key:
            await self._look_for_pods(there)
            found |= {one.key: one for one in self._objects.owners_of(there) if _is_pod(one)}
        else:
            found = {one: job for one, job in found.items() if self._is_managed(job)}
        pods = sorted(found.values(), key=lambda one: (one.metadata.created, one.metadata.name))
        metas = [one.metadata for one in pods]
        form = form_of_group(name_of(named), metas, there, self._around(key))
        return Gang(
            key=key,
            form=form,
            candidates=pods,
            jobs={one.metadata.uid: one for one in pods},
            workloads=() if there is None or form.taken else (there,),
        )

    def _around(self, key: Key) -> Surroundings:
        limits = self._objects.limits_in(key.partition("/")[0])
        return Surroundings(limits=limits, overheads=self._objects.overheads())

    async def _look_for_pods(self, workload: Workload) -> None:
        """Read pods that the Workload of a group names and the watch does not show."""
        if workload.finished:
            return
        for owner in workload.metadata.owner_references:
            missing = owner.uid not in self._objects.job_keys and owner.uid not in self._gone
            if owner.kind == KIND.kind and missing:
                await self._find(owner, workload.metadata.namespace)
                if owner.uid not in self._objects.job_keys:
                    self._gone[owner.uid] = None
        if len(self._gone) > _GONE_MAX:
            self._gone.clear()

    def _may_join(self, job: JobView) -> bool:
        """Say whether a Job can become a member: managed, not over, without its own Workload."""
        if job.metadata.deleting or job.ended or job.ignored or job.unreadable:
            return False
        if self._objects.workloads_of(job.metadata.uid):
            return False
        return self._is_managed(job)

    async def _look_for_missing(self, key: Key) -> None:
        """Read Jobs that a Workload names as owners and the watch has not shown.

        The watch of Jobs may lag behind that of Workloads, which is no reason to break up a gang.
        """
        for workload in self._workloads(key):
            if workload.finished:
                continue
            for owner in workload.metadata.owner_references:
                if owner.uid not in self._objects.job_keys:
                    await self._find(owner, workload.metadata.namespace)

    async def _find(self, owner: OwnerReference, namespace: str) -> None:
        kind = self._objects.kinds.get(owner.group_kind)
        if kind is None:
            return  # it was of a kind that is queued no more, and is let go like one that is gone
        await self._writes.find_job(kind, owner, namespace)

    def _labelled(self, key: Key) -> Iterator[JobView]:
        found = [self._objects.jobs[one] for one in self._objects.gangs.jobs[key]]
        yield from sorted(found, key=lambda job: job.key)

    def _workloads(self, key: Key) -> list[Workload]:
        return [self._objects.workloads[one] for one in self._objects.gangs.workloads[key]]


def _is_pod(job: JobView) -> bool:
    return isinstance(job, PodJob)


def _as_admitted(job: JobView, workloads: Sequence[Workload]) -> JobView:
    """Return a job as the Workload with its quota tells of it: it goes on as it was admitted."""
    for one in workloads:
        if one.status.admission is not None and not one.finished:
            return job.standing_on(one)
    return job


def alone(job: JobView, workloads: Sequence[Workload], form: Form = ALONE) -> Gang:
    """Return the gang that one Job is by itself, with its Workloads, the oldest first."""
    over = job.metadata.deleting or job.end is not None
    for one in workloads:
        over = over or (one.finished and not is_superseded(one))
    return Gang(
        key=job.key,
        form=form,
        candidates=() if over else (job,),
        jobs={job.metadata.uid: job},
        workloads=workloads,
    )
