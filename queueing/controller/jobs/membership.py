"""Collects the jobs and Workloads of a gang, and reads jobs that seem to be deleted."""

import contextlib
from collections.abc import Iterator, Sequence

from queueing.controller.jobs import prebuilt
from queueing.controller.jobs.alone import ALONE, JOINING
from queueing.controller.jobs.gangs import Form, Gang
from queueing.controller.jobs.managed import JobRules, is_managed
from queueing.controller.jobs.together import TOGETHER
from queueing.controller.stores.gang_members import is_finished
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import JOBS
from queueing.translate.jobs.batch import KIND
from queueing.translate.jobs.composition import prebuilt_name
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class Membership:
    """Reads `objects`, and the API server only before a member counts as deleted."""

    def __init__(self, objects: Objects, writes: LeaderWrites, rules: JobRules) -> None:
        self._objects, self._writes, self._rules = objects, writes, rules

    def of_job(self, job: JobView, workloads: Sequence[Workload]) -> Gang:
        """Return the gang that one Job is by itself, with its own Workloads or a prebuilt one."""
        meta, named = job.metadata, prebuilt_name(job.metadata)
        form: Form = ALONE
        found: Sequence[Workload] = workloads
        if self._objects.gangs.claims(job):
            form = JOINING
        elif named:
            there = self._objects.workloads.get(Key(f"{meta.namespace}/{named}"))
            form, found = prebuilt.found(there, job)
        return alone(job, found, form)

    async def gather(self, key: Key) -> Gang:
        """Return a gang of several Jobs as it is.

        Raises KubeError when a missing Job cannot be read.
        """
        await self._look_for_missing(key)
        workloads = self._workloads(key)
        jobs = {job.metadata.uid: job for job in self._labelled(key)}
        over: set[str] = set()
        for workload in workloads:
            for owner in workload.metadata.owner_references:
                if is_finished(workload):
                    over.add(owner.uid)
                known = self._objects.job_keys.get(owner.uid)
                if known is not None:
                    jobs[owner.uid] = self._objects.jobs[known]
        candidates = [
            job
            for job in self._labelled(key)
            if job.metadata.uid not in over and self._may_join(job)
        ]
        return Gang(key=key, form=TOGETHER, candidates=candidates, jobs=jobs, workloads=workloads)

    def _may_join(self, job: JobView) -> bool:
        """Say whether a Job can become a member: managed, not over, without its own Workload."""
        if job.metadata.deleting or job.ended:
            return False
        if self._objects.workloads_of(job.metadata.uid):
            return False
        return is_managed(self._objects, self._rules, job)

    async def _look_for_missing(self, key: Key) -> None:
        """Read Jobs that a Workload names as owners and the watch has not shown.

        The watch of Jobs may lag behind that of Workloads, which is no reason to break up a gang.
        """
        for workload in self._workloads(key):
            if is_finished(workload):
                continue
            for owner in workload.metadata.owner_references:
                if owner.uid not in self._objects.job_keys:
                    await self._find(owner.name, workload.metadata.namespace)

    async def _find(self, name: str, namespace: str) -> None:
        with contextlib.suppress(NotFoundError):
            reply = await self._writes.client.get(JOBS.at(name, namespace))
            self._writes.absorb_job(reply, KIND)

    def _labelled(self, key: Key) -> Iterator[JobView]:
        found = [self._objects.jobs[one] for one in self._objects.gangs.jobs[key]]
        yield from sorted(found, key=lambda job: job.metadata.name)

    def _workloads(self, key: Key) -> list[Workload]:
        return [self._objects.workloads[one] for one in self._objects.gangs.workloads[key]]


def alone(job: JobView, workloads: Sequence[Workload], form: Form = ALONE) -> Gang:
    """Return the gang that one Job is by itself, with its Workloads, the oldest first."""
    over = job.metadata.deleting or job.ended or any(map(is_finished, workloads))
    return Gang(
        key=job.key,
        form=form,
        candidates=() if over else (job,),
        jobs={job.metadata.uid: job},
        workloads=workloads,
    )
