"""Reconciles Jobs: does the next write that the ladder names, one per look."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from queueing.controller.jobs import ancestry, ladder, prebuilt, solitary
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.managed import JobRules, is_managed
from queueing.controller.jobs.priorities import resolve
from queueing.controller.jobs.starting import Starting
from queueing.controller.jobs.stopping import Stopping
from queueing.controller.jobs.workload_writer import WorkloadWriter
from queueing.controller.jobs.workload_writes import LetGo
from queueing.controller.stores.objects import Objects
from queueing.controller.workloads.departing_pods import AGAIN_S, JobPods
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key, Uid
from queueing.kube.deletion import this_life
from queueing.kube.errors import AlreadyExistsError, InvalidError
from queueing.kube.resources import WORKLOADS
from queueing.kube.workqueue import WorkQueue
from queueing.translate import labels
from queueing.translate.jobs import batch
from queueing.translate.jobs.composition import (
    Origin,
    compose,
    gates_of,
    max_execution_time,
    prebuilt_name,
)
from queueing.translate.jobs.management import TooDeepError
from queueing.translate.marks import refusal_of, refused_marks
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


class JobReconciler:
    """Reconciles one Job at a time; called by workers of a work queue."""

    def __init__(
        self,
        objects: Objects,
        writes: LeaderWrites,
        rules: JobRules,
        dependencies: Dependencies,
        queue: WorkQueue[Key],
    ) -> None:
        self._objects, self._writes, self._rules = objects, writes, rules
        self._events, self._reporter = dependencies.events, dependencies.reporter
        self._barrier, self._deferral = dependencies.barrier, dependencies.deferral
        self._quiescence, self._queue = dependencies.quiescence, queue
        self._departing = dependencies.departing
        self._starting = Starting(objects, writes, dependencies)
        self._stopping = Stopping(writes, dependencies)
        self._workload_writer = WorkloadWriter(writes, dependencies)

    async def look(self, key: Key) -> None:
        """Do the next write for a Job, if one is due. Raises KubeError to be called again later.

        Each write changes the Job or its Workload, whose new version leads to the next call.
        """
        job = self._objects.jobs.get(key)
        if job is None:
            self._quiescence.forget(key)
            return
        workloads = list(self._objects.workloads_of(job.metadata.uid))
        claimed = self._objects.gangs.claims(job)
        if not workloads and await self._look_as_part(job):
            return
        if not workloads and (claimed or not self._is_managed(job)):
            return
        named = prebuilt_name(job.metadata)
        if named and not claimed:
            await self._look_prebuilt(job, Key(f"{job.metadata.namespace}/{named}"))
            return
        judge = solitary.next_action if claimed else ladder.next_action
        action = judge(job, workloads, self._origin(job))
        if isinstance(action, ladder.Stop) and self._is_saving(job, workloads):
            return
        if action is not None and not self._has_to_wait(key, action):
            await self._act(job, action)

    def _has_to_wait(self, key: Key, action: ladder.Action) -> bool:
        """Say whether an action is put off while the API server is slow; then `key` comes back."""
        patience_s = ladder.patience_s(action, self._rules.tell_ready_within_s)
        again = partial(self._queue.add, key)
        name = f"{type(action).__name__} {key}"
        return patience_s > 0 and self._deferral.puts_off(name, again, patience_s)

    async def _look_as_part(self, job: Job) -> bool:
        """Do the next write for a Job below a managed one; False when there is none above it."""
        try:
            ancestor = ancestry.ancestor_of(self._objects, job, self._is_managed)
        except TooDeepError as error:
            self._events.job(job.metadata, "JobNestingTooDeep", str(error), warning=True)
            return True
        if ancestor is None:
            return False
        stop = ancestry.next_action(self._objects, job, ancestor)
        if stop is not None:
            await self._act(job, stop)
        return True

    def _is_saving(self, job: Job, workloads: Sequence[Workload]) -> bool:
        """Say whether the Job must not be suspended yet, because its pods save a checkpoint."""
        return any(self._barrier.holds(one, (job,)) for one in workloads)

    async def _look_prebuilt(self, job: Job, key: Key) -> None:
        """Do the next write for a Job that names a prebuilt Workload."""
        action = prebuilt.next_action(job, self._objects.workloads.get(key), self._origin(job))
        match action:
            case None:
                pass
            case ladder.Stop() if self._is_saving(job, self._named(key)):
                pass
            case prebuilt.Lacks(message=message):
                self._events.job(job.metadata, "ErrWorkloadCompose", message, warning=True)
            case prebuilt.Adopt(workload=workload):
                body = patch(workload.metadata, {"metadata": action.fields(job)})
                await self._writes.patch_workload(workload, body, subresource="")
            case _:
                await self._act(job, action)

    async def _act(self, job: Job, action: ladder.Action) -> None:
        match action:
            case ladder.Create():
                await self._create(job)
            case ladder.Start(workload=workload):
                await self._starting.start(job, workload)
            case ladder.Suspend(reason=reason):
                await self._stopping.suspend(job, reason)
            case ladder.Stop(reason=reason):
                await self._stopping.suspend(job, reason, {labels.STOPPING: "true"})
            case ladder.Restore(workload=workload):
                await self._restore(job, workload)
            case ladder.Match(workload=workload):
                await self._match(job, workload)
            case ladder.Follow(workload=workload):
                await self._follow(job, workload)
            case ladder.Discard(workload=workload):
                await self._discard(job, workload)
            case ladder.AwaitPods(then=then):
                await self._await_pods(job, then)
            case _:
                await self._workload_writer.write(action, (job.metadata,))

    async def _discard(self, job: Job, workload: Workload) -> None:
        meta = workload.metadata
        await self._writes.delete(WORKLOADS.at(meta.name, meta.namespace), this_life(meta.uid))
        message = f"Deleted not matching Workload: {meta.key}"
        self._events.job(job.metadata, "DeletedWorkload", message)

    async def _create(self, job: Job) -> None:
        priority = resolve(self._objects, self._events, job)
        if priority is None:
            return
        origin = self._origin(job)
        body = compose(origin, batch.pod_sets(job), priority)
        try:
            await self._writes.create_workload(job.metadata.namespace, body)
        except AlreadyExistsError:
            return  # made by us before and not seen yet; or another Job's digest gives the name
        except InvalidError as error:
            self._events.job(job.metadata, "ErrWorkloadCompose", str(error), warning=True)
            raise
        self._reporter.created("Job", job.metadata)
        key = f"{job.metadata.namespace}/{origin.name}"
        for name in refused_marks(batch.template_of(job), job.metadata, self._rules.refused):
            self._events.job(job.metadata, "Unsupported", refusal_of(name), warning=True)
        self._events.job(job.metadata, "CreatedWorkload", f"Created Workload: {key}")

    async def _restore(self, job: Job, workload: Workload) -> None:
        wait_s = await self._stopping.restore(job, workload)
        if wait_s > 0:
            self._queue.add_after(job.metadata.key, wait_s)

    async def _await_pods(self, job: Job, then: LetGo) -> None:
        meta = job.metadata
        if await self._departing.remain(meta.namespace, JobPods(Uid(meta.uid))):
            self._queue.add_after(meta.key, AGAIN_S)
        else:
            await self._workload_writer.write(then, (meta,))

    async def _match(self, job: Job, workload: Workload) -> None:
        body = outbound.change_spec(workload, {"podSets": batch.pod_sets(job)})
        await self._writes.patch_workload(workload, body, subresource="")
        self._events.job(
            job.metadata,
            "UpdatedWorkload",
            f"Updated not matching Workload for suspended job: {workload.metadata.key}",
        )

    async def _follow(self, job: Job, workload: Workload) -> None:
        priority = resolve(self._objects, self._events, job)
        if priority is None:
            return
        fields: dict[str, Any] = {
            "queueName": job.metadata.labels.get(labels.QUEUE_NAME) or None,
            "maximumExecutionTimeSeconds": max_execution_time(job.metadata),
            "priorityClassRef": None,
            **priority.fields(),
        }
        body = outbound.follow(workload, fields, gates_of(job.metadata))
        await self._writes.patch_workload(workload, body, subresource="")

    def _named(self, key: Key) -> list[Workload]:
        workload = self._objects.workloads.get(key)
        return [] if workload is None else [workload]

    def _origin(self, job: Job) -> Origin:
        copied = self._rules.labels_to_copy
        return Origin(kind=batch.KIND, metadata=job.metadata, labels_to_copy=copied)

    def _is_managed(self, job: Job) -> bool:
        return is_managed(self._objects, self._rules, job)
