"""Puts workloads without quota in their queue, or holds them back, and takes them out again.

Invariant: a workload is in at most one queue, and is not held back while it is in one.

One in backoff, or not requeued after an eviction, still counts as pending and inadmissible in its
queue, as in Kueue. Others that are held back count nowhere.
"""

from collections.abc import Hashable, Iterable

from queueing.core.credits.holding import seconds_of
from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.devices import INADMISSIBLE
from queueing.core.facts import LocalQueueFact, StopPolicy, WorkloadFact
from queueing.core.names import Key, QueueName, name_of
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.core.usage import demand_of
from queueing.core.variants import THROUGH_VARIANTS
from queueing.state.intake.variants import is_parent, tie_of, why_outdone
from queueing.state.memory.memory import Held, Memory
from queueing.state.queues.peers import Item

_TOLD_BY_OTHERS = frozenset({"ClusterQueueStopped", "LocalQueueStopped", INADMISSIBLE})
"""Reasons of `Requeued=False` that do not hold a workload back: its queue's stop policy does, or
the lack of devices."""


def enqueue(memory: Memory, fact: WorkloadFact) -> None:
    """Put a workload that holds no quota in its queue, or hold it back with a reason.

    One that is finished or being deleted is in neither.
    """
    key = fact.key
    if is_over(fact):
        leave(memory, key)
        return
    local_queue = (
        None if fact.local_queue is None else memory.objects.local_queues.get(fact.local_queue)
    )
    held = why_held(memory, fact, local_queue)
    if held is not None:
        _hold_back(memory, fact, held)
    elif local_queue is not None:
        _join(memory, fact, local_queue.cluster_queue)


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
    has_variants = fact.has_variants or memory.settings.concurrent_admission
    if has_variants and is_parent(memory, fact, local_queue.cluster_queue):
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


def is_over(fact: WorkloadFact) -> bool:
    """Say whether a workload is finished or being deleted, so that it is never queued again."""
    return fact.finished or fact.deleting


def leave(memory: Memory, key: Key) -> None:
    """Remove a workload from its queue, or from those that are held back."""
    held = memory.aside.take(key)
    if held is not None:
        memory.touch(held.wait.cluster_queue, held.local_queue)
    item = memory.items.pop(key, None)
    if item is None:
        return
    memory.ledger.break_promise(key, releases=True)
    peers = item.peers
    memory.queues[peers.queue].remove(item)
    memory.ready.add(peers.queue)
    memory.touch(peers.queue, peers.local_queue)


def isolate(memory: Memory, item: Item, *, sticky: bool = False) -> None:
    """Move an item to peers of its own, because the result of its judgement holds for it alone.

    A `sticky` item keeps its place before others of its queue: see `queue_key`.
    """
    peers = item.peers
    token = ("alone", item.fact.uid)
    tie = tie_of(memory, item.fact, peers.queue) if item.fact.variant else ""
    order = queue_key(item.fact, item.timestamp, sticky=sticky, tie=tie)
    if peers.token == token and order == item.order:
        return
    queue = memory.queues[peers.queue]
    queue.remove(item)
    item.order = order
    queue.add(item, token, peers.demand)


def heed_siblings(memory: Memory, fact: WorkloadFact) -> None:
    """Queue the other variants of a workload anew: this one is admitted now, or no longer is."""
    if fact.variant is None:
        return
    for key in list(memory.workloads.variants.get(fact.variant.parent, ())):
        if key != fact.key and key not in memory.ledger.charges:
            enqueue(memory, memory.workloads[key])


def rejoin(memory: Memory, keys: Iterable[Key]) -> None:
    """Queue workloads anew, because what groups them changed."""
    for key in list(keys):
        leave(memory, key)
        enqueue(memory, memory.workloads[key])


def _join(memory: Memory, fact: WorkloadFact, name: QueueName) -> None:
    timestamp = queue_timestamp(fact, memory.settings)
    known, preserves = memory.items.get(fact.key), memory.settings.preserve_scan_progress
    stays = known is not None and known.peers.queue == name
    if known is not None and stays and _material(known.fact) == _material(fact):
        known.fact = fact
        memory.aside.untold.pop(fact.key, None)
        if not preserves:
            known.progress = None
        return
    leave(memory, fact.key)
    tie = tie_of(memory, fact, name) if fact.variant else ""
    item = Item(fact, queue_key(fact, timestamp, tie=tie), timestamp)
    memory.items[fact.key] = item
    if known is not None and stays and preserves and known.fact.priority == fact.priority:
        # Progress names the demand that it is valid for, so a changed demand needs no check here.
        item.progress, item.progress_at = known.progress, known.progress_at
        item.progress_in = known.progress_in
    demand = demand_of(fact)
    length = seconds_of(fact) if memory.credits.has_budgets else None
    token: Hashable = (demand.shape, fact.priority, fact.local_queue, length)
    if not has_peers(memory, name):
        token = ("alone", fact.uid)
    is_first = memory.queue(name).add(item, token, demand)
    memory.ready.add(name)
    memory.touch(name, fact.local_queue)
    if not memory.objects.is_active(name):
        memory.aside.untold[fact.key] = None
    if is_first and memory.settings.rules.waits_for_lacks:
        memory.wake(item.peers)


def _material(fact: WorkloadFact) -> tuple[object, ...]:
    """Return all of a pending workload's fact that a judgement may depend on."""
    evicted, requeued = fact.conditions.get("Evicted"), fact.conditions.get("Requeued")
    return (
        fact.pod_sets,
        fact.priority,
        fact.local_queue,
        fact.created,
        fact.reclaimable,
        None if evicted is None else (evicted.status, evicted.reason, evicted.changed),
        None if requeued is None else (requeued.status, requeued.reason, requeued.changed),
        fact.is_true("WaitingForReplacementPods"),
        [(one.name, one.state) for one in fact.checks],
        fact.preemption_gated,
        fact.misconfigured,
        fact.requeue_at,
        fact.max_execution_s,
        fact.past_execution_s,
    )


def has_peers(memory: Memory, name: QueueName) -> bool:
    """Say whether equivalent workloads of a queue are judged together, as peers.

    Not in a StrictFIFO queue, where the first blocks the others anyway.
    """
    return memory.settings.equivalence_hashing and not memory.objects.is_strict(name)


def _hold_back(memory: Memory, fact: WorkloadFact, held: Held) -> None:
    known, is_untold = memory.aside.held.get(fact.key), fact.key in memory.aside.untold
    leave(memory, fact.key)
    memory.aside.put(fact.key, held)
    if held.until is not None:
        memory.timers.set(held.until, fact.key)
    memory.touch(held.wait.cluster_queue, held.local_queue)
    if known is None or is_untold or known.wait != held.wait:
        memory.aside.untold[fact.key] = None
