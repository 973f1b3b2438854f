"""Sends the writes of the slices of elastic jobs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import msgspec

from queueing.controller.jobs.actions import Grow, Resize, SliceWrite, Supersede
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import workload_target
from queueing.kube.errors import AlreadyExistsError
from queueing.translate.jobs.composition import as_workload
from queueing.translate.jobs.slices import REPLACED, counts_of, resized_spec
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.workloads import Workload


class SliceWriter:
    """Sends one write per call. Raises KubeError to be called again later."""

    def __init__(self, term: Term, labels_to_copy: Sequence[str]) -> None:
        self._labels_to_copy = labels_to_copy
        self._writes, self._clock = term.writes, term.clock
        self._reporter, self._events = term.reporter, term.events

    async def write(self, due: SliceWrite, jobs: Sequence[JobView]) -> None:
        """Send a write about a slice; `jobs` is the job for which a slice is made."""
        workload = due.workload
        match due:
            case Grow():
                await self._grow(due, jobs[0])
            case Resize(counts=counts):
                spec = resized_spec(await self._stored(workload), counts)
                body = outbound.change_spec(workload, {"podSets": spec["podSets"]})
                await self._writes.patch_workload(workload, body, "")
            case Supersede(reason=reason, message=message):
                body = outbound.finish(workload, reason, message, self._clock.now())
                await self._writes.patch_workload(workload, body)
                self._events.workload(workload.metadata, reason, message)
                if reason == REPLACED:
                    self._reporter.replaced(workload)
            case _:
                assert_never(due)

    async def _grow(self, due: Grow, job: JobView) -> None:
        """Create the slice that is to replace one: the same, but for the number of its pods."""
        before = due.workload.metadata
        spec = resized_spec(await self._stored(due.workload), counts_of(job.pod_sets))
        origin = replace(due.origin, replaced=before, labels_to_copy=self._labels_to_copy)
        try:
            body = msgspec.json.encode(as_workload(origin, spec))
            await self._writes.create_workload(before.namespace, body)
        except AlreadyExistsError:
            return  # made by us before, and not seen yet
        said = f"Created Workload: {before.namespace}/{origin.name}"
        self._events.job(job, "CreatedWorkload", said)

    async def _stored(self, workload: Workload) -> bytes:
        """Read a Workload: what is watched of it leaves out most of its pod templates."""
        return await self._writes.client.get(workload_target(workload.metadata, ""))
