"""Whether a Job that was suspended soon after its start makes no pods any more.

The Job controller makes pods first and writes the status afterwards; and what it writes is refused
when the Job was suspended meanwhile. So a status that tells of no pods says nothing as long as the
start may not have been seen. Then the pods themselves are asked for, until the time is over that a
look of that controller takes.
"""

from queueing.clock import Clock
from queueing.controller.job_pods import pods_of
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.translate.checkpoints.wire import Pod
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

LINGER_S = 5.0
"""How long after a suspension the Job controller may still make pods for the start before it."""
AGAIN_S = 1.0


class Quiescence:
    """Asked before the template of a suspended Job, and then its quota, is given back."""

    def __init__(self, writes: LeaderWrites, clock: Clock) -> None:
        self._writes, self._clock = writes, clock
        self._seen: dict[Key, bool] = {}
        """Of Jobs that this leader suspended: whether their start had been seen by then."""
        self._doubted: dict[Key, float] = {}

    def stopping(self, job: Job) -> None:
        """Note a Job as it is when it is suspended."""
        self._seen[job.metadata.key] = job.status.start_time is not None

    def forget(self, key: Key) -> None:
        """Drop what is known of a Job that has its template back, or is gone."""
        self._seen.pop(key, None)
        self._doubted.pop(key, None)

    async def wait_s(self, job: Job, workload: Workload) -> float:
        """Return after how many seconds to ask again; 0 when no pod will come. Raises KubeError.

        The Job's status tells of no pods, or nobody would ask.
        """
        if not workload.status.is_true("QuotaReserved") or self._start_was_seen(job, workload):
            return 0.0
        now = self._clock.now()
        over = self._doubted.setdefault(job.metadata.key, now) + LINGER_S
        if now < over:
            return over - now
        meta = job.metadata
        pods = await pods_of(self._writes.client, meta.namespace, [meta.uid], Pod)
        return 0.0 if all(pod.status.is_terminal for pod in pods) else AGAIN_S

    def _start_was_seen(self, job: Job, workload: Workload) -> bool:
        """Say whether the suspension that the status tells of came after the start.

        A leader that was not there goes by the times, whole seconds of two clocks.
        """
        suspended = next((one for one in job.status.conditions if one.type == "Suspended"), None)
        if suspended is None or suspended.status != "True":
            return False
        known = self._seen.get(job.metadata.key)
        if known is not None:
            return known
        admitted = workload.status.true_condition("Admitted")
        return admitted is None or suspended.changed >= admitted.changed
