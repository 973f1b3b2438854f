"""Suspends jobs, single ones and those of gangs, and restores their pod templates."""

from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.writing.leader_writes import workload_target
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class Stopping:
    """The writes that stop a job; each method does one."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._writes, self._events = dependencies.term.writes, dependencies.term.events
        self._quiescence = dependencies.quiescence

    async def suspend(
        self, job: JobView, reason: str, *, original: Workload | None = None, mark: bool = False
    ) -> None:
        """Suspend a job, and mark it as stopping if wanted. Records why. Raises KubeError.

        Jobs that can be are restored by the same write, if their Workload is given as `original`.
        """
        self._quiescence.stopping(job)
        if original is not None and job.restored_by_stop:
            change = job.undo(original, await self._stored(job, original))
        else:
            change = job.suspension(mark=mark)
        if change is not None:
            await self._writes.patch_job(job, change)
            self._events.job(job, "Stopped", reason)

    async def restore(self, job: JobView, workload: Workload) -> float:
        """Do the next write to restore a suspended job's pod templates. Raises KubeError.

        Returns the seconds after which to call again while pods may still come, and 0 after a
        write.
        """
        wait_s = await self._quiescence.wait_s(job, workload)
        if wait_s > 0:
            return wait_s
        first = job.reset()
        if first is not None:
            await self._writes.patch_job(job, first, subresource="status")
            return 0.0
        change = job.undo(workload, await self._stored(job, workload))
        if change is not None:
            await self._writes.patch_job(job, change)
        self._quiescence.forget(job.key)
        self._events.job(job, "Stopped", "Pod template restored")
        return 0.0

    async def _stored(self, job: JobView, workload: Workload) -> bytes:
        """Return a Workload as it is stored, if the job needs that. Raises KubeError."""
        if not job.needs_stored:
            return b""
        return await self._writes.client.get(workload_target(workload.metadata, ""))
