"""Why a workload is in no queue: deactivated, stopped, gated, misconfigured, or in backoff.

One in backoff, or not requeued after an eviction, still counts as pending and inadmissible in its
queue, as in Kueue. The others count nowhere.
"""

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.devices import INADMISSIBLE
from queueing.core.facts import LocalQueueFact, StopPolicy, WorkloadFact
from queueing.core.names import name_of
from queueing.core.variants import THROUGH_VARIANTS
from queueing.state.intake.variants import is_parent, why_outdone
from queueing.state.memory.memory import Held, Memory

_TOLD_BY_OTHERS = frozenset({"ClusterQueueStopped", "LocalQueueStopped", INADMISSIBLE})
"""Reasons of `Requeued=False` that do not hold a workload back: its queue's stop policy does, or
the lack of devices."""


def why_held(memory: Memory, fact: WorkloadFact, local_queue: LocalQueueFact | None) -> Held | None:
    """Return the first reason for which a workload must not be queued; None if it may be."""

    def held(
        reason: Reason,
        message: str,
        requeue: Requeue = Requeue.NOT_QUEUED,
        until: float | None = None,
    ) -> Held:
        wait = Wait(
            workload=fact.key,
            uid=fact.uid,
            cluster_queue=None if local_queue is None else local_queue.cluster_queue,
            requeue=requeue,
            reason=reason,
            message=message,
        )
        return Held(wait, fact.local_queue, until)

    if not fact.active:
        return held(Reason.DEACTIVATED, "The workload is deactivated")
    if local_queue is None:
        return held(Reason.MISCONFIGURED, f"LocalQueue {_queue_name(fact)} doesn't exist")
    if local_queue.stop_policy is not StopPolicy.NONE:
        return held(Reason.ON_HOLD, f"LocalQueue {_queue_name(fact)} is inactive")
    if local_queue.cluster_queue not in memory.objects.queues:
        return held(Reason.MISCONFIGURED, f"ClusterQueue {local_queue.cluster_queue} doesn't exist")
    if fact.admission_gates:
        gates = ", ".join(fact.admission_gates)
        return held(Reason.ADMISSION_GATED, f"Admission is gated by {gates}")
    if is_parent(memory, fact, local_queue.cluster_queue):
        return held(Reason.PENDING_EVALUATION, THROUGH_VARIANTS)
    if fact.variant is not None and (why := why_outdone(memory, fact, fact.variant)):
        return held(Reason.WAITING_FOR_QUOTA, why, Requeue.INADMISSIBLE)
    if fact.unserved:
        return held(Reason.MISCONFIGURED, fact.unserved, Requeue.INADMISSIBLE)
    if fact.is_true("WaitingForReplacementPods"):
        text = "Pods of the group are to be replaced first"
        return held(Reason.PENDING_EVALUATION, text, Requeue.INADMISSIBLE)
    requeued = fact.conditions.get("Requeued")
    if requeued is not None and not requeued.status and requeued.reason not in _TOLD_BY_OTHERS:
        evicted = f"Not to be queued after its eviction: {requeued.reason}"
        text = requeued.message if requeued.reason == Reason.ON_HOLD else evicted
        return held(Reason.PENDING_EVALUATION, text, Requeue.INADMISSIBLE)
    due = max(fact.requeue_at or memory.clock, memory.writes.punished.get(fact.key, memory.clock))
    if due > memory.clock:
        text = "Backing off before the next try"
        return held(Reason.PENDING_EVALUATION, text, Requeue.INADMISSIBLE, due)
    return None


def _queue_name(fact: WorkloadFact) -> str:
    return "" if fact.local_queue is None else name_of(fact.local_queue)
