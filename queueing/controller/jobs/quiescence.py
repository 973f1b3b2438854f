"""Finds out whether a Job that was suspended soon after its start creates no more pods.

Kubernetes' Job controller creates pods first and writes the Job's status afterwards, and that write
fails with a conflict if the Job was suspended meanwhile. So a status without active pods proves
nothing until it shows that the controller has seen the suspension after the start. Where it may not
have, `LINGER_S` are waited for, and then the pods are listed.
"""

from queueing.checkpoints.wire.objects import Pod
from queueing.clock import Clock
from queueing.controller.job_pods import pods_of, started_pods
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

LINGER_S = 5.0
"""Seconds after a suspension in which the Job controller may still create pods for the start."""
AGAIN_S = 1.0
"""Seconds between two lists of pods."""


class Quiescence:
    """Asked by `Stopping` before a suspended Job's template is restored, and its quota released."""

    def __init__(self, writes: LeaderWrites, clock: Clock) -> None:
        self._writes, self._clock = writes, clock
        self._seen: dict[Key, bool] = {}
        """Jobs that this term suspended: whether the controller had seen their start by then."""
        self._doubted: dict[Key, float] = {}
        """Jobs that `wait_s` was unsure about, and since when (wall clock)."""

    def stopping(self, job: JobView) -> None:
        """Note a Job that is about to be suspended."""
        if job.tells_of_all_pods:
            self._seen[job.key] = job.reset() is not None

    def forget(self, key: Key) -> None:
        """Forget a Job whose template is restored, or that is deleted."""
        self._seen.pop(key, None)
        self._doubted.pop(key, None)

    async def wait_s(self, job: JobView, workload: Workload) -> float:
        """Return the seconds after which to ask again; 0 when no pod runs or will be created.

        For a suspended job whose status has no active pods. Raises KubeError.
        """
        if not job.tells_of_all_pods:
            return AGAIN_S if await self.have_pods(workload) else 0.0
        if not workload.status.is_true("QuotaReserved") or self._start_was_seen(job, workload):
            return 0.0
        now = self._clock.now()
        over = self._doubted.setdefault(job.key, now) + LINGER_S
        if now < over:
            return over - now
        meta = job.metadata
        pods = await pods_of(self._writes.client, meta.namespace, [meta.uid], Pod)
        return 0.0 if all(pod.status.is_terminal for pod in pods) else AGAIN_S

    async def have_pods(self, workload: Workload) -> bool:
        """Say whether pods that a Workload's start created have not ended. Raises KubeError."""
        pods = await started_pods(self._writes.client, workload, Pod)
        return any(not pod.status.is_terminal for pod in pods)

    def _start_was_seen(self, job: JobView, workload: Workload) -> bool:
        """Say whether the Job's condition `Suspended` is of the suspension after the last start.

        By what was noted when this term suspended it. For other Jobs by the times of `Suspended`
        and `Admitted`, which are whole seconds of two clocks.
        """
        seen = job.suspension_seen
        if seen is None:
            return False
        known = self._seen.get(job.key)
        if known is not None:
            return known
        admitted = workload.status.true_condition("Admitted")
        return admitted is None or seen >= admitted.changed
