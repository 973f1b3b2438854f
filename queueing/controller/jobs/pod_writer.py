"""Sends the writes of pods that are queued: what lets go of them, and what deletes them."""

from collections.abc import Iterable
from typing import Any

from queueing.controller.jobs.actions import LetPodsGo, RemoveExcess
from queueing.controller.jobs.ladder import DELETED, NOT_ADMITTED
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import all_of
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.times import timestamp
from queueing.translate.wire.workloads import Workload


def cause_of(workloads: Iterable[Workload], message: str) -> str:
    """Return the reason of the condition that a pod gets before it is deleted."""
    if message == DELETED:
        return "WorkloadDeleted"
    for one in workloads:
        evicted = one.status.true_condition("Evicted")
        if evicted is not None and evicted.message == message:
            return f"WorkloadEvictedDueTo{evicted.reason}"
    return "NotAdmitted" if message == NOT_ADMITTED else "NoMatchingWorkload"


class PodWriter:
    """Each method raises KubeError to be called again later."""

    def __init__(self, term: Term) -> None:
        self._writes, self._events, self._clock = term.writes, term.events, term.clock

    async def stop(self, pod: PodJob, cause: str, message: str) -> None:
        """Delete a pod, with its grace period, after a condition of it says why."""
        await self._writes.apply_job_status(pod, {"conditions": [self._target(cause, message)]})
        await self._writes.delete_job(pod)
        self._events.job(pod, "Stopped", message)

    async def write(self, action: LetPodsGo | RemoveExcess) -> None:
        """Do to each pod what an action says."""
        do = self._let_go if isinstance(action, LetPodsGo) else self._remove
        await all_of(do(one) for one in action.pods)

    async def free(self, pod: PodJob) -> None:
        """Let a pod run that belongs to an object which is queued in its place."""
        if pod.gated:
            await self._writes.patch_job(pod, pod.freed())

    async def _let_go(self, pod: PodJob) -> None:
        await self._writes.patch_job(pod, pod.release())

    async def _remove(self, pod: PodJob) -> None:
        if pod.held:
            await self._let_go(pod)
        await self._writes.delete_job(pod)
        self._events.job(pod, "ExcessPodDeleted", "Excess pod deleted", warning=True)

    def _target(self, cause: str, message: str) -> dict[str, Any]:
        return {
            "type": "TerminationTarget",
            "status": "True",
            "reason": cause,
            "message": message,
            "lastTransitionTime": timestamp(self._clock.now()),
        }
