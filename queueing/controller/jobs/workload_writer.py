"""Sends the writes of `workload_writes`, for single Jobs and for gangs."""

from collections.abc import Sequence
from typing import assert_never

from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.workload_writes import (
    Finish,
    LetGo,
    Ready,
    Reclaim,
    Release,
    WorkloadWrite,
)
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


class WorkloadWriter:
    """Sends one write per call, and reports it to Events, metrics and traces once it is done."""

    def __init__(self, writes: LeaderWrites, dependencies: Dependencies) -> None:
        self._writes, self._devices, self._clock = writes, dependencies.devices, dependencies.clock
        self._reporter, self._events = dependencies.reporter, dependencies.events

    async def write(self, due: WorkloadWrite, jobs: Sequence[Meta]) -> None:
        """Send a write about these Jobs. Raises KubeError to be called again later.

        Quota is not released while devices are still allocated; the claims' change leads to the
        next call.
        """
        workload, now = due.workload, self._clock.now()
        match due:
            case Release():
                if not self._devices.holds(workload):
                    await self._writes.release(workload, now)
            case Reclaim(counts=counts):
                await self._writes.reclaim(workload, counts, now)
            case LetGo():
                await self._writes.let_go(workload)
            case Ready(ready=ready):
                body = outbound.pods_ready(workload, ready=ready, now=now)
                await self._writes.patch_workload(workload, body)
                if ready and jobs:
                    self._reporter.pods_ready(workload, jobs[0])
            case Finish(reason=reason, message=message):
                body = outbound.finish(workload, reason, message, now)
                await self._writes.patch_workload(workload, body)
                self._tell_end(workload, jobs, message)
            case _:
                assert_never(due)

    def _tell_end(self, workload: Workload, jobs: Sequence[Meta], message: str) -> None:
        if jobs:
            self._reporter.finished(workload, jobs[0])
        said = f"Workload '{workload.metadata.key}' is declared finished"
        if len(jobs) > 1:
            said = f"{said}: {message}"  # which of the members it was
        for job in jobs:
            self._events.job(job, "FinishedWorkload", said)
