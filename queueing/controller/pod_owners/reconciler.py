"""Reconciles StatefulSets and LeaderWorkerSets, and the pods that they make.

Called by `jobs.reconciler` before it looks at a job, if pods are queued at all.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import assert_never

from queueing.controller.jobs.actions import (
    Discard,
    Follow,
    LetGo,
    Match,
    PutOnHold,
    TakeOffHold,
)
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.workload_writer import WorkloadWriter
from queueing.controller.pod_owners import marking
from queueing.controller.pod_owners.revisions import Revisions, StatefulSet, ungated
from queueing.controller.pod_owners.steps import (
    CreateGroup,
    GroupSeen,
    LookAgain,
    Step,
    steps_of,
)
from queueing.controller.writing.leader_writes import all_of
from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.kinds.grouping import groups_of
from queueing.kinds.hooks import PodGroups
from queueing.kinds.jobs import DescribedJob
from queueing.kube.client import Client
from queueing.kube.deletion import this_life
from queueing.kube.reflector import Reflector
from queueing.kube.resources import WORKLOADS
from queueing.translate import labels
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.group_workload import GroupOfPods, compose_group
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.wire.workloads import Workload

AGAIN_S = 1.0
"""Seconds between two looks while pods are awaited that leave, or an owner that is not seen yet."""
PATIENCE_S = 60.0
"""For how many seconds after its creation a pod's owner is looked for."""
TOGETHER = 50
"""How many steps one look does at most."""

GROUPS_MAX = 5_000
"""Of how many groups an object may be: one look at so many takes some 25 ms."""


class PodOwners:
    """Does what is due for an object or a pod, by its key. Raises KubeError to be called again."""

    def __init__(self, dependencies: Dependencies, kinds: Sequence[Kind]) -> None:
        """`kinds` are those that are queued, among others than these."""
        term = dependencies.term
        self._objects, self._rules, self._queue = term.objects, dependencies.rules, term.queues.jobs
        self._writes, self._events, self._clock = term.writes, term.events, term.clock
        self._is_managed = dependencies.is_managed
        self._workloads = WorkloadWriter(dependencies)
        self._revisions = Revisions(term.queues.jobs.add)
        self._kinds = kinds

    def reflectors(self, client: Client) -> Iterator[tuple[Reflector[StatefulSet], str]]:
        """Yield what follows the StatefulSets that controllers make of some of these objects."""
        return self._revisions.reflectors(client, self._kinds)

    async def look(self, key: Key) -> bool:
        """Do what is due; False for what is none of these, and is a job like others."""
        job = self._objects.jobs.get(key)
        if isinstance(job, PodJob):
            return await self._look_at_pod(job)
        if not isinstance(job, DescribedJob) or not job.queued_through_pods:
            return False
        rules = job.source.kind.hooks.pod_groups
        if rules is not None and self._is_managed(job):
            await self._look_at_owner(job, rules)
        return True

    async def _look_at_owner(self, job: DescribedJob, rules: PodGroups) -> None:
        if job.problem:
            self._events.job(job, "Unreadable", job.problem, warning=True)
            return
        groups = {one.name: one for one in islice(self._groups(job), GROUPS_MAX + 1)}
        if len(groups) > GROUPS_MAX:
            told = f"more than {GROUPS_MAX} groups of pods: not queued"
            self._events.job(job, "TooManyGroups", told, warning=True)
            return
        workloads = self._objects.workloads_of(job.metadata.uid)
        seen = [GroupSeen(one, self._has_pods(one)) for one in workloads]
        due = list(islice(steps_of(job, rules, groups, seen), TOGETHER))
        await all_of(self._do(job, one) for one in due)
        if len(due) == TOGETHER or any(isinstance(one, LookAgain) for one in due):
            self._queue.add_after(job.key, AGAIN_S)
        await all_of(self._keep(job, one) for one in self._pods_of(job, groups))

    def _groups(self, job: DescribedJob) -> Iterator[GroupOfPods]:
        if not job.metadata.deleting:
            yield from groups_of(job, self._rules.labels_to_copy)

    def _has_pods(self, workload: Workload) -> bool:
        meta = workload.metadata
        return any(
            not one.ended for one in marking.members(self._objects, meta.namespace, meta.name)
        )

    async def _do(self, job: DescribedJob, step: Step) -> None:
        match step:
            case CreateGroup(group=group):
                await self._make(job, group)
            case Discard(workload=workload, message=message):
                meta = workload.metadata
                target = WORKLOADS.at(meta.name, meta.namespace)
                await self._writes.delete(target, this_life(meta.uid))
                self._events.job(job, "DeletedWorkload", f"Deleted Workload {meta.key}: {message}")
            case PutOnHold() | TakeOffHold() | LetGo():
                await self._workloads.write(step, (job,))
            case Match():
                await self._workloads.match(step)
            case Follow():
                await self._workloads.follow(step)
            case LookAgain():
                pass  # whoever called sees to it
            case _:
                assert_never(step)

    async def _make(self, job: DescribedJob, group: GroupOfPods) -> None:
        """Create the Workload of a group."""

        def compose(priority: Priority) -> tuple[str, bytes]:
            return group.name, compose_group(group, job.wire_pod_sets(), priority)

        await self._workloads.create_composed((job,), compose)

    # Pods -------------------------------------------------------------------------------------

    async def _look_at_pod(self, pod: PodJob) -> bool:
        """Give a pod the marks of its group; False for one that needs none, or has them."""
        if pod.group is not None or marking.rules_of(pod.metadata) is None:
            return False
        job = marking.owner_of(self._objects, pod.metadata)
        if job is not None:
            await self._mark(pod, job)
        elif not pod.ended and self._clock.now() < pod.metadata.created + PATIENCE_S:
            self._queue.add_after(pod.key, AGAIN_S)
        return True

    async def _mark(self, pod: PodJob, job: DescribedJob) -> None:
        rules = job.source.kind.hooks.pod_groups
        if rules is None or job.problem or not self._is_managed(job):
            return
        number = rules.number(pod.metadata)
        found = (one for one in self._groups(job) if one.number in (None, number))
        group = next(found, None)
        if number is None or group is None or pod.ended:
            return
        there = self._objects.workloads.get(Key(f"{job.metadata.namespace}/{group.name}"))
        marked = marking.members(self._objects, job.metadata.namespace, group.name)
        if marking.is_full(there, len(marked)):
            told = f"Pod {pod.metadata.name} waits: Workload {group.name} is for fewer pods"
            self._events.job(job, "ExcessPods", told, warning=True)
            return
        await self._writes.patch_job(pod, marking.marks(pod, job, rules, group))

    def _pods_of(self, job: DescribedJob, groups: dict[str, GroupOfPods]) -> Iterator[PodJob]:
        """Yield the pods of an object: those with marks, and those that it controls without any."""
        for name in groups:
            yield from marking.members(self._objects, job.metadata.namespace, name)
        for key in self._objects.jobs_by_owner[job.metadata.uid]:
            found = self._objects.jobs[key]
            if isinstance(found, PodJob) and found.group is None:
                yield found

    async def _keep(self, job: DescribedJob, pod: PodJob) -> None:
        """Keep a pod in line with its owner: its marks, its queue, and whether it waits."""
        if pod.ended or pod.metadata.deleting:
            return
        if pod.group is None:
            await self._mark(pod, job)
            return
        queue = marking.queue_of(job)
        if any(pod.metadata.labels.get(name) != value for name, value in queue.items()):
            await self._writes.patch_job(pod, MergePatch(body={"metadata": {"labels": queue}}))
        elif labels.GATE in pod.gates and self._revisions.is_replaced(job, pod):
            await self._writes.patch_job(pod, ungated(pod))
