"""Why a workload may not be tried: deactivated, held, gated, misconfigured, or backing off.

Who backs off counts as pending, and stands among the inadmissible of its queue, as in Kueue; the
others are in no queue.
"""

from heapq import heappush

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.facts import LocalQueueFact, StopPolicy, WorkloadFact
from queueing.core.names import name_of
from queueing.state.memory.memory import Held, Memory

_STOPPED = frozenset({"ClusterQueueStopped", "LocalQueueStopped"})
"""Reasons after which a workload may queue again as soon as its queue is no longer stopped."""


def why_held(memory: Memory, fact: WorkloadFact, local_queue: LocalQueueFact | None) -> Held | None:
    """Return why a workload may not queue, None when it may."""
    queue = None if local_queue is None else local_queue.cluster_queue
    found = _first_hindrance(memory, fact, local_queue)
    if found is None:
        return None
    reason, message, pending = found
    wait = Wait(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=queue,
        requeue=Requeue.INADMISSIBLE if pending else Requeue.NOT_QUEUED,
        reason=reason,
        message=message,
    )
    return Held(wait, fact.local_queue, pending)


def _first_hindrance(
    memory: Memory, fact: WorkloadFact, local_queue: LocalQueueFact | None
) -> tuple[Reason, str, bool] | None:
    """Return why a workload may not be tried, and whether it counts as pending all the same."""
    name = "" if fact.local_queue is None else name_of(fact.local_queue)
    if not fact.active:
        return Reason.DEACTIVATED, "The workload is deactivated", False
    if local_queue is None:
        return Reason.MISCONFIGURED, f"LocalQueue {name} doesn't exist", False
    if local_queue.stop_policy is not StopPolicy.NONE:
        return Reason.ON_HOLD, f"LocalQueue {name} is inactive", False
    if local_queue.cluster_queue not in memory.objects.queues:
        return (
            Reason.MISCONFIGURED,
            f"ClusterQueue {local_queue.cluster_queue} doesn't exist",
            False,
        )
    if fact.admission_gates:
        gates = ", ".join(fact.admission_gates)
        return Reason.ADMISSION_GATED, f"Admission is gated by {gates}", False
    requeued = fact.conditions.get("Requeued")
    if requeued is not None and not requeued.status and requeued.reason not in _STOPPED:
        text = f"Not to be queued after its eviction: {requeued.reason}"
        return Reason.PENDING_EVALUATION, text, True
    due = max(fact.requeue_at or memory.clock, memory.punished.get(fact.key, memory.clock))
    if due > memory.clock:
        heappush(memory.timers, (due, fact.key))
        return Reason.PENDING_EVALUATION, "Backing off before the next try", True
    return None
