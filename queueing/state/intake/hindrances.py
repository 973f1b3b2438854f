"""Why a workload is in no queue: deactivated, stopped, gated, misconfigured, or in backoff.

One in backoff, or not requeued after an eviction, still counts as pending and inadmissible in its
queue, as in Kueue. The others count nowhere.
"""

from typing import NamedTuple

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.facts import LocalQueueFact, StopPolicy, WorkloadFact
from queueing.core.lifecycle.phases import INADMISSIBLE
from queueing.core.names import name_of
from queueing.state.memory.memory import Held, Memory

_TOLD_BY_OTHERS = frozenset({"ClusterQueueStopped", "LocalQueueStopped", INADMISSIBLE})
"""Reasons of `Requeued=False` that do not hold a workload back: its queue's stop policy does, or
the lack of devices."""


def why_held(memory: Memory, fact: WorkloadFact, local_queue: LocalQueueFact | None) -> Held | None:
    """Return why a workload must not be queued; None if it may be."""
    queue = None if local_queue is None else local_queue.cluster_queue
    found = _first_hindrance(memory, fact, local_queue)
    if found is None:
        return None
    wait = Wait(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=queue,
        requeue=Requeue.INADMISSIBLE if found.pending else Requeue.NOT_QUEUED,
        reason=found.reason,
        message=found.message,
    )
    return Held(wait, fact.local_queue, found.pending, found.until)


class _Hindrance(NamedTuple):
    """What keeps a workload from being tried."""

    reason: Reason
    message: str
    pending: bool = False
    """Whether the workload still counts as pending."""
    until: float | None = None
    """When the hindrance ends without a new fact; None if only a fact can end it."""


def _first_hindrance(
    memory: Memory, fact: WorkloadFact, local_queue: LocalQueueFact | None
) -> _Hindrance | None:
    """Return the first hindrance that applies to a workload; None if there is none."""
    name = "" if fact.local_queue is None else name_of(fact.local_queue)
    if not fact.active:
        return _Hindrance(Reason.DEACTIVATED, "The workload is deactivated")
    if local_queue is None:
        return _Hindrance(Reason.MISCONFIGURED, f"LocalQueue {name} doesn't exist")
    if local_queue.stop_policy is not StopPolicy.NONE:
        return _Hindrance(Reason.ON_HOLD, f"LocalQueue {name} is inactive")
    if local_queue.cluster_queue not in memory.objects.queues:
        text = f"ClusterQueue {local_queue.cluster_queue} doesn't exist"
        return _Hindrance(Reason.MISCONFIGURED, text)
    if fact.admission_gates:
        gates = ", ".join(fact.admission_gates)
        return _Hindrance(Reason.ADMISSION_GATED, f"Admission is gated by {gates}")
    if fact.unserved:
        return _Hindrance(Reason.MISCONFIGURED, fact.unserved, pending=True)
    requeued = fact.conditions.get("Requeued")
    if requeued is not None and not requeued.status and requeued.reason not in _TOLD_BY_OTHERS:
        text = f"Not to be queued after its eviction: {requeued.reason}"
        return _Hindrance(Reason.PENDING_EVALUATION, text, pending=True)
    due = max(fact.requeue_at or memory.clock, memory.writes.punished.get(fact.key, memory.clock))
    if due > memory.clock:
        text = "Backing off before the next try"
        return _Hindrance(Reason.PENDING_EVALUATION, text, pending=True, until=due)
    return None
