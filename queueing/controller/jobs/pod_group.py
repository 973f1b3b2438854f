"""Pods of one group: admitted together, with one Workload that all of them own.

The Workload has a pod set for each role. A pod that has failed or is deleted keeps its place, and
our finalizer, until another pod of its role takes it; the pods that wait survive an eviction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from queueing.controller.jobs.actions import (
    Action,
    AwaitReplacements,
    Complain,
    Create,
    Finish,
    Follow,
    LetGo,
    LetPodsGo,
    Own,
    RemoveExcess,
    Stop,
)
from queueing.controller.jobs.alone import MISSING, NO_MATCH
from queueing.controller.jobs.gangs import Form, Gang
from queueing.controller.jobs.ladder import DELETED, is_held_by_us
from queueing.controller.jobs.parts import Part
from queueing.controller.jobs.pod_alone import is_deleted_by_user, let_go_first
from queueing.translate.jobs import gang_keys as groups
from queueing.translate.jobs.composition import Priority, follows
from queueing.translate.jobs.gang import part_of
from queueing.translate.jobs.pods import workload as group_workload
from queueing.translate.jobs.pods.matching import by_role, matched, trimmed
from queueing.translate.jobs.pods.view import KIND, PodJob
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound.workloads import OWNER_GONE
from queueing.translate.requests import NOTHING_AROUND, Surroundings
from queueing.translate.wire.workloads import Workload

NO_GROUP = (
    'A Workload named "{}" already exists but is not a pod group workload;'
    " this pod group cannot be admitted"
)


@dataclass(frozen=True, slots=True)
class PodGroup(Form):
    """The form of a group; its candidates are all its pods, the oldest first."""

    several: ClassVar[bool] = True
    is_rehearsed: ClassVar[bool] = False
    lost: ClassVar[str] = NO_MATCH
    name: str
    taken: bool = False
    """A Workload that was made for something else has its name."""
    around: Surroundings = NOTHING_AROUND
    """What the requests of its pods depend on beside themselves."""

    @override
    def before(self, gang: Gang) -> Action | None:
        pods, workload = members_of(gang), _workload(gang)
        if workload is None:
            return None
        if not pods:
            return _abandon(workload)
        if is_deleted_by_user(workload):
            staying = [one for one in pods if not one.metadata.deleting]
            return Stop(staying, DELETED) if staying else _let_go(one for one in pods if one.ended)
        if workload.finished:
            return _let_go(pods)
        return self._matching(pods, workload)

    def _matching(self, pods: Sequence[PodJob], workload: Workload) -> Action | None:
        """Return the next step that makes members what the Workload is for."""
        found = matched(pods, workload, self.around)
        if not found.fits or _are_deleted(pods, workload):
            return None
        owners = {one.uid for one in workload.metadata.owner_references}
        new = [one for one in pods if one.metadata.uid not in owners]
        if new:
            return Own(workload, new)
        excess = [one for one in found.excess if not one.metadata.deleting]
        if excess:
            return RemoveExcess(excess)
        if found.replaced:
            return LetPodsGo(found.replaced)
        if bool(found.absent) != workload.status.is_true("WaitingForReplacementPods"):
            return AwaitReplacements(workload, awaits=bool(found.absent))
        return None

    @override
    def owners(self, gang: Gang, workload: Workload) -> Sequence[JobView]:
        return tuple(gang.jobs.values())

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        pods = members_of(gang)
        lost = "" if not pods or self._fits(pods, workload) else self.lost
        views = {role: part_of(workload, role) for role in by_role(pods)}
        return [
            Part(
                view=views[pod.role],
                job=pod,
                ended=pod.ended,
                lost=lost,
                departed=False,
            )
            for pod in pods
        ]

    def _fits(self, pods: Sequence[PodJob], workload: Workload) -> bool:
        return matched(pods, workload, self.around).fits

    @override
    def fits(self, gang: Gang, workload: Workload) -> tuple[bool, bool]:
        return True, True

    @override
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        pods = [one.job for one in parts if isinstance(one.job, PodJob)]
        if not pods:
            return None
        if groups.is_serving(pods[0].metadata):
            return None  # whoever makes its pods replaces those that go
        if _are_deleted(pods, workload):
            return Finish(workload, "OwnerNotFound", OWNER_GONE)
        total = groups.total_count(pods[0].metadata) or len(pods)
        succeeded = len(_succeeded(pods))
        given_up = all(one.ended for one in pods) and any(
            groups.is_unretriable(one.metadata) for one in pods
        )
        if succeeded >= total or given_up:
            return Finish(workload, "Succeeded", f"Pods succeeded: {succeeded}/{total}.")
        return None

    @override
    def assemble(self, gang: Gang) -> Action | None:
        pods = members_of(gang)
        running = [one for one in pods if not one.suspended]
        if running:
            return Stop(running, MISSING)
        if not pods or any(one.active for one in pods):
            return None
        gone = _let_go(one for one in pods if not one.counts)
        if gone is not None:
            return gone
        if self.taken:
            return Complain(pods[0], NO_GROUP.format(self.name), "WorkloadNameConflict")
        return self._create([one for one in pods if one.counts])

    def _create(self, pods: Sequence[PodJob]) -> Action | None:
        if not pods:
            return None
        if all(one.ended for one in pods):
            return _let_go(pods)  # its Workload was there, and has been removed since
        total = groups.total_count(pods[0].metadata)
        agreed = not group_workload.count_problem(pods)
        excess = () if total is None or not agreed else trimmed(pods, total)
        if excess:
            return RemoveExcess(excess)
        problem = group_workload.problem_of(pods)
        return Complain(pods[0], problem, patient=True) if problem else Create(pods)

    @override
    def while_pending(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        pods = members_of(gang)
        if not pods:
            return None
        if parts[0].lost:
            return self.misfit(workload, parts[0].lost)
        first = pods[0].metadata
        if groups.is_serving(first) or follows(first, workload):
            return None
        return Follow(workload, pods[0])

    @override
    def misfit(self, workload: Workload, why: str) -> Action:
        return let_go_first(workload, why)

    @override
    def ready(self, parts: Sequence[Part]) -> bool:
        pods = [one.job for one in parts if isinstance(one.job, PodJob)]
        total = groups.total_count(pods[0].metadata) if pods else None
        able = [one for one in pods if one.ready or one.source.phase == "Succeeded"]
        return bool(pods) and len(able) == len(pods) >= (total or 1)

    @override
    def reclaimable(self, parts: Sequence[Part]) -> Mapping[str, int]:
        pods = [one.job for one in parts if isinstance(one.job, PodJob)]
        if not pods or groups.is_serving(pods[0].metadata):
            return {}
        return by_role(_succeeded(pods))

    @override
    def compose(
        self, members: Sequence[JobView], priority: Priority, labels_to_copy: Sequence[str]
    ) -> tuple[str, bytes]:
        pods = [one for one in members if isinstance(one, PodJob)]
        return self.name, group_workload.compose(self.name, pods, priority, labels_to_copy)


def members_of(gang: Gang) -> list[PodJob]:
    """Return the pods of a group, the oldest first."""
    return [one for one in gang.jobs.values() if isinstance(one, PodJob)]


def _workload(gang: Gang) -> Workload | None:
    return gang.workloads[0] if gang.workloads else None


def _abandon(workload: Workload) -> Action | None:
    """Let go of the Workload of a group without pods, so that it is collected with its owners.

    One that something else owns, such as a StatefulSet, waits for pods.
    """
    others = any(one.kind != KIND.kind for one in workload.metadata.owner_references)
    return LetGo(workload) if is_held_by_us(workload) and not others else None


def _let_go(pods: Iterable[PodJob]) -> Action | None:
    held = [one for one in pods if one.held]
    return LetPodsGo(held) if held else None


def _succeeded(pods: Sequence[PodJob]) -> list[PodJob]:
    return [one for one in pods if one.source.phase == "Succeeded"]


def _are_deleted(pods: Sequence[PodJob], workload: Workload) -> bool:
    """Say whether all pods are deleted for good: an eviction stops them only to be replaced."""
    for_good = not (workload.status.is_true("Evicted") and workload.spec.active)
    return for_good and all(one.metadata.deleting for one in pods)
