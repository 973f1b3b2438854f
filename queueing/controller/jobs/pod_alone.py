"""A pod that is queued by itself, with the Workload that it controls.

It is deleted instead of suspended, and its Workload goes with it. Our finalizer keeps the pod until
its Workload says what became of it, and its quota is held until it has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from queueing.controller.jobs.actions import Action, Discard, Finish, LetGo, LetPodsGo, Stop
from queueing.controller.jobs.alone import Alone
from queueing.controller.jobs.gangs import Form, Gang
from queueing.controller.jobs.ladder import DELETED, is_held_by_us
from queueing.controller.jobs.parts import Part
from queueing.controller.jobs.prebuilt import Prebuilt
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.outbound.workloads import OWNER_GONE
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class PodAlone(Alone):
    """The form of most pods."""

    @override
    def before(self, gang: Gang) -> Action | None:
        (pod,) = gang.jobs.values()
        if any(map(is_deleted_by_user, gang.workloads)) and not pod.metadata.deleting:
            return Stop((pod,), DELETED)
        over = all(one.finished for one in gang.workloads) and pod.ended
        if over and isinstance(pod, PodJob) and pod.held:
            return LetPodsGo((pod,))
        return super(PodAlone, self).before(gang)

    @override
    def parts(self, gang: Gang, workload: Workload) -> Sequence[Part]:
        """Return the one part. What became of it is seen on the pod itself."""
        (part,) = super(PodAlone, self).parts(gang, workload)
        return (replace(part, departed=False),)

    @override
    def ending(self, workload: Workload, parts: Sequence[Part]) -> Finish | None:
        pod = parts[0].job
        if pod is not None and pod.metadata.deleting:
            return Finish(workload, "OwnerNotFound", OWNER_GONE)
        return super(PodAlone, self).ending(workload, parts)

    @override
    def misfit(self, workload: Workload, why: str) -> Action:
        return let_go_first(workload, why)


@dataclass(frozen=True, slots=True)
class PrebuiltPod(PodAlone, Prebuilt):
    """The form of a pod that names its Workload."""

    @override
    def misfit(self, workload: Workload, why: str) -> Action:
        return Prebuilt.misfit(self, workload, why)


def of_pod(form: Form) -> Form:
    """Return the form of a pod whose form would be this one if it were another object."""
    return PrebuiltPod(lacks=form.lacks) if isinstance(form, Prebuilt) else PodAlone()


def is_deleted_by_user(workload: Workload) -> bool:
    """Say whether somebody else deletes a Workload: its pods go with it, whatever their state.

    We delete one only without our finalizer, so that it is gone at once.
    """
    return workload.metadata.deleting and is_held_by_us(workload)


def let_go_first(workload: Workload, why: str) -> Action:
    """Return the next step to delete a Workload without stopping pods that wait."""
    return LetGo(workload) if is_held_by_us(workload) else Discard(workload, why)
