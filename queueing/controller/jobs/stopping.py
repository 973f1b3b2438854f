"""Suspends Jobs, single ones and those of gangs, and restores their pod templates."""

from typing import Any

from queueing.controller.jobs.dependencies import Dependencies
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.workloads import Workload


class Stopping:
    """The writes that stop a Job; each method does one."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._writes, self._events = dependencies.term.writes, dependencies.term.events
        self._quiescence = dependencies.quiescence

    async def suspend(self, job: JobView, reason: str, *, mark: bool = False) -> None:
        """Suspend a Job, and mark it as stopping if wanted. Records why. Raises KubeError."""
        fields: dict[str, Any] = {"spec": {"suspend": True}}
        if mark:
            fields["metadata"] = {"annotations": {labels.STOPPING: "true"}}
        self._quiescence.stopping(job)
        await self._writes.patch_job(job, patch(job.metadata, fields))
        self._events.job(job.metadata, "Stopped", reason)

    async def restore(self, job: JobView, workload: Workload) -> float:
        """Do the next write to restore a suspended Job's pod template. Raises KubeError.

        Returns the seconds after which to call again while pods may still come, and 0 after a
        write. The API server allows another template only for a Job without `status.startTime`
        (https://kep.k8s.io/2926), so that is removed first.
        """
        wait_s = await self._quiescence.wait_s(job, workload)
        if wait_s > 0:
            return wait_s
        meta = job.metadata
        if job.source.status.start_time is not None:
            body = patch(meta, {"status": {"startTime": None}})
            await self._writes.patch_job(job, body, subresource="status")
            return 0.0
        restored: dict[str, Any] = {"spec": batch.undo(job, workload)}
        if labels.STOPPING in meta.annotations:
            restored["metadata"] = {"annotations": {labels.STOPPING: None}}
        await self._writes.patch_job(job, patch(meta, restored))
        self._quiescence.forget(meta.key)
        self._events.job(meta, "Stopped", "Pod template restored")
        return 0.0
