"""Unsuspends a Job whose Workload is admitted, or writes into the Workload why it cannot start."""

from queueing.controller.checkpoints.starting import warn_of_grace
from queueing.controller.jobs.additions import additions
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.start_errors import DevicesRefusedError
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.lifecycle.steps import Cause, Condemn, Evict
from queueing.kube.client import Call
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.injection import ConflictError
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


class Starting:
    """Starts single Jobs; what their pods need of devices is created first."""

    def __init__(self, objects: Objects, writes: LeaderWrites, dependencies: Dependencies) -> None:
        self._objects, self._writes = objects, writes
        self._events, self._reporter = dependencies.events, dependencies.reporter
        self._clock, self._devices = dependencies.clock, dependencies.devices
        self._late_reservations = dependencies.late_reservations

    async def start(self, job: Job, workload: Workload) -> None:
        """Start a Job, or end or evict its Workload. Raises KubeError to be called again later.

        Evicted is a Workload whose reservation an earlier leader wrote too late. Finished as
        FailedToStart is one whose admission contradicts the Job's pod template; deactivated is one
        whose devices cannot be claimed as requested.
        """
        withdrawal = self._late_reservations.withdrawal(workload)
        if withdrawal is not None:
            await self._withdraw(workload, withdrawal)
            return
        try:
            added = additions(self._objects, job, workload)
            changes = await self._devices.prepare(job, workload)
            spec = batch.start(job, added.with_devices(changes))
        except DevicesRefusedError as error:
            await self._condemn(workload, error)
            return
        except ConflictError as error:
            body = outbound.finish(workload, "FailedToStart", str(error), self._clock.now())
            await self._writes.patch_workload(workload, body)
            return
        trace = job.metadata.annotations.get(labels.TRACE_PARENT, "")
        began = self._clock.now()
        body = patch(job.metadata, {"spec": spec})
        await self._writes.patch_job(job, body, call=Call(traceparent=trace))
        self._reporter.started(workload, began)
        admission = workload.status.admission
        queue = admission.cluster_queue if admission else ""
        self._events.job(job.metadata, "Started", f"Admitted by clusterQueue {queue}")
        warn_of_grace(self._objects, self._events, workload, [job])

    async def _withdraw(self, workload: Workload, step: Evict) -> None:
        """Evict a Workload whose reservation was written too late; nothing of it has started."""
        body = outbound.evict(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.workload(
            workload.metadata, "EvictedDueToPreempted", step.message, warning=True
        )

    async def _condemn(self, workload: Workload, error: DevicesRefusedError) -> None:
        """Begin to deactivate a Workload whose devices cannot be claimed; a user must act."""
        step = Condemn(cause=Cause(error.reason), message=error.message)
        body = outbound.condemn(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.workload(workload.metadata, error.reason, error.message, warning=True)
