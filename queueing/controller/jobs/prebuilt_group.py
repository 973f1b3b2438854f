"""Pods of one group whose Workload somebody else makes, and keeps in line with its pods.

That of what serves has places for so many pods of each role. Whatever calls itself one of them and
finds no place, or asks for more than is charged for one, waits; the others run as if it were not
there, because its Workload goes on for as long as what it was made for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from typing_extensions import override

from queueing.controller.jobs.actions import Action, Complain, Finish, Own, RemoveExcess
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.parts import Part
from queueing.controller.jobs.pod_group import PodGroup, members_of
from queueing.controller.jobs.prebuilt import NOT_THERE, OUT_OF_SYNC
from queueing.translate.jobs import gang_keys as groups
from queueing.translate.jobs.composition import prebuilt_name
from queueing.translate.jobs.pods.matching import larger, matched
from queueing.translate.jobs.pods.view import KIND, PodJob
from queueing.translate.requests import NOTHING_AROUND, Surroundings
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class PrebuiltPodGroup(PodGroup):
    """The form of a group whose Workload is somebody else's."""

    lost: ClassVar[str] = OUT_OF_SYNC

    @override
    def _matching(self, pods: Sequence[PodJob], workload: Workload) -> Action | None:
        owners = {one.uid for one in workload.metadata.owner_references}
        new = [one for one in pods if one.metadata.uid not in owners]
        return Own(workload, new) if new else None

    @override
    def _fits(self, pods: Sequence[PodJob], workload: Workload) -> bool:
        found = matched(pods, workload, self.around)
        return found.fits and not found.excess

    @override
    def _create(self, pods: Sequence[PodJob]) -> Action | None:
        return Complain(pods[0], NOT_THERE, patient=True) if pods else None

    @override
    def misfit(self, workload: Workload, why: str) -> Action:
        return Finish(workload, "OutOfSync", why)


@dataclass(frozen=True, slots=True)
class ServingGroup(PrebuiltPodGroup):
    """The form of pods of what serves."""

    @override
    def _matching(self, pods: Sequence[PodJob], workload: Workload) -> Action | None:
        beyond = {one.metadata.uid: why for one, why in self._beyond(pods, workload)}
        left = [one for one in pods if one.metadata.uid in beyond]
        running = [one for one in left if not (one.suspended or one.metadata.deleting)]
        if running:
            return RemoveExcess(running)
        placed = [one for one in pods if one.metadata.uid not in beyond]
        return super(ServingGroup, self)._matching(placed, workload)

    def _beyond(self, pods: Sequence[PodJob], workload: Workload) -> list[tuple[PodJob, str]]:
        """Return the pods that the Workload has no quota for, each with why."""
        name, roles = workload.metadata.name, {one.name for one in workload.spec.pod_sets}
        found = [
            (one, f"Workload {name} has no pod set {one.role!r}")
            for one in pods
            if one.role not in roles
        ]
        found += [
            (one, f"it asks for more than pod set {one.role!r} of Workload {name} is charged for")
            for one in larger(pods, workload, self.around)
        ]
        out = {one.metadata.uid for one, _ in found}
        rest = [one for one in pods if one.metadata.uid not in out]
        excess = matched(rest, workload, self.around).excess if rest else ()
        return found + [(one, f"Workload {name} is for fewer pods") for one in excess]

    def _without(self, gang: Gang, workload: Workload) -> Gang:
        """Return a group without the pods that wait for good."""
        beyond = {one.metadata.uid for one, _ in self._beyond(members_of(gang), workload)}
        kept = {uid: one for uid, one in gang.jobs.items() if uid not in beyond}
        return replace(gang, jobs=kept)

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        return super(ServingGroup, self).parts(self._without(gang, workload), workload)

    @override
    def _fits(self, pods: Sequence[PodJob], workload: Workload) -> bool:
        return True

    @override
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        return None  # whoever makes its pods replaces those that go

    @override
    def while_pending(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        return self._tell(gang, workload)

    @override
    def at_rest(self, gang: Gang, workload: Workload, parts: Sequence[Part]) -> Action | None:
        return self._tell(gang, workload)

    def _tell(self, gang: Gang, workload: Workload) -> Action | None:
        for pod, why in self._beyond(members_of(gang), workload):
            told = f"Pod {pod.metadata.name} waits: {why}"
            return Complain(pod, told, "ExcessPods", patient=True)
        return None


def form_of_group(
    name: str,
    pods: Sequence[Meta],
    workload: Workload | None,
    around: Surroundings = NOTHING_AROUND,
) -> PodGroup:
    """Return the form of a group with these pods, by the Workload of its name, if there is one."""
    owners = () if workload is None else workload.metadata.owner_references
    if any(map(prebuilt_name, pods)):
        serves = groups.is_serving(pods[0]) or any(one.kind != KIND.kind for one in owners)
        form = ServingGroup if serves else PrebuiltPodGroup
        return form(name, taken=any(one.controller for one in owners), around=around)
    taken = workload is not None and groups.group_of_workload(workload.metadata) is None
    return PodGroup(name, taken=taken, around=around)
