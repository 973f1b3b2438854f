"""Reconciles gangs, most of which are one Job: does the step that the ladder names.

Called by the `workers` of `session`, with the key of a Job or a gang that `intake`, a timer or an
earlier look put in its work queue.
"""

from collections.abc import Sequence
from functools import partial

from queueing.controller.jobs import actions, ladder
from queueing.controller.jobs.actions import Action
from queueing.controller.jobs.ancestry import NOT_ADMITTED, Ancestry
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.evictions import Evictions
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.membership import Membership
from queueing.controller.jobs.owners import Owners
from queueing.controller.jobs.parts import Part
from queueing.controller.jobs.pod_writer import PodWriter, cause_of
from queueing.controller.jobs.starting import Starting
from queueing.controller.jobs.stopping import Stopping
from queueing.controller.jobs.ungating import Ungating
from queueing.controller.jobs.waiting_reasons import WaitingReasons
from queueing.controller.jobs.workload_writer import WorkloadWriter
from queueing.controller.workloads.departing_pods import AGAIN_S, JobPods, Pods, of_workload
from queueing.controller.writing.leader_writes import all_of
from queueing.core.names import Key, Uid
from queueing.kinds.owners import Owned, OwnerGoneError, OwnersError
from queueing.kube.workqueue import WorkQueue
from queueing.translate import labels
from queueing.translate.jobs.gang_keys import is_queued_for_owner
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.jobs.slices import resized
from queueing.translate.jobs.view import JobView

PODS_AGAIN_S = 5.0
"""Seconds after which pods are listed again while an elastic job has fewer than it may."""
PODS_SWEEP_S = 30.0
"""Seconds after which they are listed again otherwise: a pod made anew may change no status."""
OWNER_GONE_S = 5.0
"""Seconds until a job is looked at again whose owner does not exist."""


class JobReconciler:
    """Reconciles one Job, or one gang with a name, at a time; called by workers of two queues."""

    def __init__(self, dependencies: Dependencies) -> None:
        term = dependencies.term
        self._objects, self._queues = term.objects, term.queues
        self._tell_ready_within_s = dependencies.tell_ready_within_s
        self._looks = term.queues.features.looks
        self._events, self._barrier = term.events, dependencies.barrier
        self._deferral, self._departing = term.deferral, dependencies.departing
        self._quiescence = dependencies.quiescence
        self._is_managed = dependencies.is_managed
        self._ancestry = Ancestry(term.objects, self._is_managed)
        self._owners = Owners(term.objects, term.writes, self._ancestry)
        self._membership = Membership(dependencies, self._owners)
        self._evictions = Evictions(term)
        self._starting = Starting(dependencies, self._evictions)
        self._stopping = Stopping(dependencies)
        self._pods = PodWriter(term)
        self._ungating = Ungating(term)
        self._workload_writer = WorkloadWriter(dependencies)
        self._waiting_reasons = WaitingReasons(
            term.writes, term.events, term.clock, term.queues.gangs
        )

    async def look(self, key: Key) -> None:
        """Do the next step for a Job, if one is due. Raises KubeError to be called again later.

        Each step changes the Job or its Workload, whose new version leads to the next call.
        """
        for look in self._looks:
            if await look(key):
                return
        job = self._objects.jobs.get(key)
        if job is None:
            self._quiescence.forget(key)
            return
        if job.problem or job.ignored:
            if job.problem and self._is_managed(job):
                self._events.job(job, "Unreadable", job.problem, warning=True)
            if job.unreadable or job.ignored:
                return
        workloads = self._objects.workloads_of(job.metadata.uid)
        if not workloads:
            is_owned = job.metadata.owner_references and not is_queued_for_owner(job.metadata)
            if is_owned and await self._look_as_child(job):
                return
            if self._objects.gangs.claims(job) or not self._is_managed(job):
                return
        gang = self._membership.of_job(job, workloads)
        action = ladder.next_action(gang)
        if action is not None:
            await self._advance(gang, action)

    async def look_at_gang(self, key: Key) -> None:
        """Do the next step for a gang of several Jobs (`namespace/name`), as `look` does."""
        gang = await self._membership.gather(key)
        owned = [job for one in gang.workloads for job in gang.form.owners(gang, one)]
        if any(job.unreadable for job in owned):
            return  # left as it is, as a single one would be; an Event of its own look says why
        await self._advance(gang, ladder.next_action(gang))

    async def _advance(self, gang: Gang, action: Action | None) -> None:
        if isinstance(action, actions.AwaitPods):
            action = await self._due_now(gang, action)
        if isinstance(action, actions.Tell):
            await self._waiting_reasons.tell(gang.key, action)
            return
        if isinstance(action, actions.Ungate):
            await self._fit_pods(gang, action)
            return
        if gang.form.several and not isinstance(action, actions.Complain):
            self._waiting_reasons.forget(gang.key)
        if action is None:
            return
        patience_s = ladder.patience_s(action, self._tell_ready_within_s)
        if patience_s <= 0 or not self._is_put_off(gang, action, patience_s):
            await self._act(gang, action)

    async def _fit_pods(self, gang: Gang, action: actions.Ungate) -> None:
        """Let pods of an elastic job go, or shrink its slice when those beyond it have ended."""
        wanted, workload = action.shrinks_to, action.workload
        aim = workload if wanted is None else resized(workload, wanted)
        found = await self._ungating.let_go(action.job, aim)
        if wanted is not None and not found.exceeded:
            await self._act(gang, actions.Resize(workload, wanted))
        else:
            soon_s = PODS_AGAIN_S if found.lacks else PODS_SWEEP_S
            self._queue_of(gang).add_after(gang.key, AGAIN_S if found.exceeded else soon_s)

    async def _due_now(self, gang: Gang, action: Action | None) -> Action | None:
        """Return the action itself, or what an `AwaitPods` stands for as its pods are now."""
        while isinstance(action, actions.AwaitPods):
            if await self._have_pods(gang, action.parts):
                self._queue_of(gang).add_after(gang.key, AGAIN_S)
                action = action.meanwhile
            else:
                action = action.then
        return action

    async def _have_pods(self, gang: Gang, parts: Sequence[Part]) -> bool:
        """Say whether any of these parts has pods that have not ended. Raises KubeError."""
        namespace = parts[0].view.metadata.namespace
        sought: list[Pods] = []
        for one in parts:
            if not one.departed and await self._quiescence.have_pods(one.view):
                return True
            if one.departed:
                sought += self._pods_of(gang, one)
        return any([await self._departing.remain(namespace, one) for one in sought])

    def _pods_of(self, gang: Gang, part: Part) -> Sequence[Pods]:
        """Return how the pods of a part are found whose job was deleted."""
        if part.job is None or gang.form.several or not part.job.tells_of_all_pods:
            return of_workload(part.view)
        return [JobPods(Uid(part.job.metadata.uid))]

    def _is_put_off(self, gang: Gang, action: Action, patience_s: float) -> bool:
        """Say whether an action is put off while the API server is slow; then the key comes back.

        What a gang of several Jobs writes is not put off.
        """
        if gang.form.is_rehearsed:
            return False
        again = partial(self._queue_of(gang).add, gang.key)
        return self._deferral.puts_off(f"{type(action).__name__} {gang.key}", again, patience_s)

    async def _look_as_child(self, job: JobView) -> bool:
        """Do the next step for a Job below a managed one; False when there is none above it."""
        try:
            if self._is_managed(job):
                await self._owners.learn(job)
            ancestor = self._ancestry.ancestor_of(job)
        except OwnersError as error:
            self._events.job(job, error.reason, str(error), warning=True)
            if isinstance(error, OwnerGoneError):
                self._queues.jobs.add_after(job.key, OWNER_GONE_S)  # its garbage is collected soon
            return True
        if ancestor is None:
            return False
        if isinstance(job, PodJob):
            await self._pods.free(job)
            return True
        if isinstance(ancestor, JobView) and labels.ELASTIC in ancestor.metadata.annotations:
            self._queues.jobs.add(ancestor.key)  # it may be scaled through this one
        runs = not (job.suspended or job.ended)
        if runs and not self._ancestry.is_admitted(ancestor) and not self._saves(ancestor):
            await self._stopping.suspend(job, NOT_ADMITTED)
        return True

    def _saves(self, job: Owned) -> bool:
        """Say whether pods of an evicted job, and of what belongs to it, save a checkpoint."""
        if not isinstance(job, JobView):
            return False  # what another controller queues it stops
        workloads = self._objects.workloads_for(job.metadata.uid)
        return any(self._barrier.holds(one, (job,)) for one in workloads)

    async def _act(self, gang: Gang, action: Action) -> None:
        match action:
            case actions.Create(members=members):
                await self._workload_writer.create(gang, members)
            case actions.Start():
                await self._starting.start(gang, action)
            case actions.Stop():
                await self._stop(gang, action)
            case actions.Restore(parts=parts):
                await all_of(self._restore(gang, one) for one in parts)
            case actions.Match():
                await self._workload_writer.match(action)
            case actions.Follow():
                await self._workload_writer.follow(action)
            case actions.Discard():
                await self._workload_writer.discard(gang, action)
            case actions.BreakUp():
                await self._evictions.break_up(gang, action)
            case actions.Complain():
                self._waiting_reasons.complain(gang.key, action)
            case actions.LetPodsGo() | actions.RemoveExcess():
                await self._pods.write(action)
            case actions.Tell() | actions.AwaitPods() | actions.Ungate():
                pass  # `_advance` saw to it
            case _:
                speakers = gang.form.owners(gang, action.workload)
                await self._workload_writer.write(action, speakers)

    async def _stop(self, gang: Gang, action: actions.Stop) -> None:
        """Suspend jobs, unless their pods save a checkpoint."""
        jobs, cause = action.jobs, cause_of(gang.workloads, action.reason)
        if any(self._barrier.holds(one, jobs) for one in gang.workloads):
            return
        await all_of(
            self._pods.stop(one, cause, action.reason)
            if isinstance(one, PodJob)
            else self._stopping.suspend(
                one, action.reason, original=action.originals.get(one.key), mark=action.mark
            )
            for one in jobs
        )

    async def _restore(self, gang: Gang, part: Part) -> None:
        if part.job is None:
            return
        wait_s = await self._stopping.restore(part.job, part.view)
        if wait_s > 0:
            self._queue_of(gang).add_after(gang.key, wait_s)

    def _queue_of(self, gang: Gang) -> WorkQueue[Key]:
        return self._queues.gangs if gang.form.several else self._queues.jobs
