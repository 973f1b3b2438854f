"""Reconciles gangs: does the next step that the ladder names, one per look."""

from collections.abc import Sequence

from queueing.controller.checkpoints.starting import warn_of_grace
from queueing.controller.gangs import actions, ladder
from queueing.controller.gangs.concurrent_writes import all_of
from queueing.controller.gangs.membership import Membership
from queueing.controller.gangs.parts import Gang, Part, owners
from queueing.controller.gangs.starting import RefusedStartError, prepare, start
from queueing.controller.gangs.waiting_reasons import WaitingReasons
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.managed import JobRules
from queueing.controller.jobs.priorities import resolve
from queueing.controller.jobs.start_errors import DevicesRefusedError
from queueing.controller.jobs.stopping import Stopping
from queueing.controller.jobs.workload_writer import WorkloadWriter
from queueing.controller.stores.objects import Objects
from queueing.controller.workloads.departing_pods import AGAIN_S, PodSetPods
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.lifecycle.rules import Backoff
from queueing.core.lifecycle.steps import Evict, EvictionReason
from queueing.core.names import Key
from queueing.kube.deletion import this_life
from queueing.kube.errors import AlreadyExistsError, InvalidError
from queueing.kube.resources import WORKLOADS
from queueing.kube.workqueue import WorkQueue
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.injection import ConflictError
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

REFUSED_BACKOFF = Backoff(base_s=10.0, max_s=600.0)
"""Seconds for which a gang stays out of its queue after the server refused to start a member."""


class GangReconciler:
    """Reconciles one gang (`namespace/name`) at a time; called by workers of a work queue."""

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
        self._clock, self._late_reservations = dependencies.clock, dependencies.late_reservations
        self._barrier, self._devices = dependencies.barrier, dependencies.devices
        self._stopping, self._queue = Stopping(writes, dependencies), queue
        self._departing = dependencies.departing
        self._workload_writer = WorkloadWriter(writes, dependencies)
        self._membership = Membership(objects, writes, rules)
        self._waiting_reasons = WaitingReasons(
            writes, dependencies.events, dependencies.clock, queue
        )

    async def look(self, key: Key) -> None:
        """Do the next step for a gang, if one is due. Raises KubeError to be called again later."""
        gang = await self._membership.gather(key)
        action = await self._due_now(key, ladder.next_action(gang))
        if isinstance(action, actions.Tell):
            await self._waiting_reasons.tell(key, action)
            return
        self._waiting_reasons.forget(key)
        if action is not None:
            await self._act(gang, action)

    async def _due_now(self, key: Key, action: actions.Action | None) -> actions.Action | None:
        """Return the action itself, or what an `AwaitPods` stands for as its pods are now."""
        while isinstance(action, actions.AwaitPods):
            if await self._have_pods(action.departed):
                self._queue.add_after(key, AGAIN_S)
                action = action.meanwhile
            else:
                action = action.then
        return action

    async def _have_pods(self, departed: Sequence[Part]) -> bool:
        """Say whether any of these members has pods that have not ended. Raises KubeError."""
        sought = [PodSetPods(one.view.metadata.name, one.name) for one in departed]
        namespace = departed[0].view.metadata.namespace
        return any([await self._departing.remain(namespace, one) for one in sought])

    async def _act(self, gang: Gang, action: actions.Action) -> None:
        match action:
            case actions.Create(members=members):
                await self._create(members)
            case actions.Discard(workload=workload, message=message):
                await self._discard(gang, workload, message)
            case actions.Match(workload=workload, members=members):
                await self._match(workload, members)
            case actions.Start(workload=workload, parts=parts):
                await self._start(workload, parts, begun=action.begun)
            case actions.Stop(jobs=jobs, reason=reason):
                if not any(self._barrier.holds(one, jobs) for one in gang.workloads):
                    await all_of(self._stopping.suspend(one, reason) for one in jobs)
            case actions.Restore(parts=parts):
                await all_of(self._restore(gang, one) for one in parts)
            case actions.BreakUp(workload=workload, message=message):
                await self._evict(workload, Evict(reason=_REASON, message=message))
            case actions.Tell() | actions.AwaitPods():
                pass  # `look` saw to it
            case _:
                speakers = [job.metadata for job in owners(gang, action.workload)]
                await self._workload_writer.write(action, speakers)

    async def _create(self, members: Sequence[Job]) -> None:
        priority = resolve(self._objects, self._events, members[0])
        if priority is None:
            return
        body = gang_workload.compose(members, priority, self._rules.labels_to_copy)
        namespace = members[0].metadata.namespace
        try:
            await self._writes.create_workload(namespace, body)
        except AlreadyExistsError:
            return  # made by us before, and not seen yet
        except InvalidError as error:
            for job in members:
                self._events.job(job.metadata, "ErrWorkloadCompose", str(error), warning=True)
            raise
        last = max(members, key=lambda job: job.metadata.created)
        self._reporter.created("Job", last.metadata)
        key = f"{namespace}/{gang_workload.name_of(members)}"
        for job in members:
            self._events.job(job.metadata, "CreatedWorkload", f"Created Workload: {key}")

    async def _discard(self, gang: Gang, workload: Workload, message: str) -> None:
        meta = workload.metadata
        await self._writes.delete(WORKLOADS.at(meta.name, meta.namespace), this_life(meta.uid))
        for job in owners(gang, workload):
            said = f"Deleted not matching Workload: {meta.key}: {message}"
            self._events.job(job.metadata, "DeletedWorkload", said)

    async def _match(self, workload: Workload, members: Sequence[Job]) -> None:
        priority = resolve(self._objects, self._events, members[0])
        if priority is None:
            return
        fields = {
            "podSets": gang_workload.pod_sets(members),
            **gang_workload.following(members, priority),
        }
        body = outbound.change_spec(workload, fields)
        await self._writes.patch_workload(workload, body, subresource="")

    async def _start(self, workload: Workload, parts: Sequence[Part], *, begun: bool) -> None:
        """Unsuspend members, or end or evict the Workload.

        Evicted is one whose reservation an earlier leader wrote too late, or with a member that the
        API server refuses to start, or whose devices cannot be claimed. Finished as FailedToStart
        is one whose admission contradicts a pod template, if no member runs yet.
        """
        withdrawal = None if begun else self._late_reservations.withdrawal(workload)
        if withdrawal is not None:
            await self._evict(workload, withdrawal)
            return
        began = self._clock.now()
        try:
            await start(self._writes, await prepare(self._objects, parts, self._devices))
        except ConflictError as error:
            if begun:
                await self._evict(workload, self._refused(workload, str(error)))
                return
            body = outbound.finish(workload, "FailedToStart", str(error), self._clock.now())
            await self._writes.patch_workload(workload, body)
            return
        except (RefusedStartError, DevicesRefusedError) as error:
            await self._evict(workload, self._refused(workload, str(error)))
            return
        self._reporter.started(workload, began)
        admission = workload.status.admission
        queue = admission.cluster_queue if admission else ""
        for one in parts:
            if one.job is not None:
                message = f"Admitted by clusterQueue {queue}, with its gang"
                self._events.job(one.job.metadata, "Started", message)
        jobs = [one.job for one in parts if one.job is not None]
        warn_of_grace(self._objects, self._events, workload, jobs)

    def _refused(self, workload: Workload, message: str) -> Evict:
        state = workload.status.requeue_state
        attempt = (state.count if state is not None else 0) + 1
        return Evict(
            reason=_REASON,
            message=f"A member of the gang cannot start: {message}",
            requeue_at=self._clock.now() + REFUSED_BACKOFF.delay_s(attempt),
            requeue_count=attempt,
        )

    async def _evict(self, workload: Workload, step: Evict) -> None:
        body = outbound.evict(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        reason = f"EvictedDueTo{step.wire_reason}"
        self._events.workload(workload.metadata, reason, step.message, warning=True)
        self._reporter.evicted(workload, step.reason, step.cause)
        for owner in workload.metadata.owner_references:
            job = self._objects.job_keys.get(owner.uid)
            if job is not None:
                meta = self._objects.jobs[job].metadata
                self._events.job(meta, step.wire_reason, step.message, warning=True)

    async def _restore(self, gang: Gang, part: Part) -> None:
        if part.job is None:
            return
        wait_s = await self._stopping.restore(part.job, part.view)
        if wait_s > 0:
            self._queue.add_after(gang.key, wait_s)


_REASON = EvictionReason.GANG_INTERRUPTED
