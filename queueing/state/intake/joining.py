"""Puts workloads without quota in their queue, or holds them back, and takes them out again.

Invariant: a workload is in at most one queue, and is not held back while it is in one.
"""

from collections.abc import Hashable
from heapq import heappush

from queueing.core.credits.allowance import seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.state.intake.hindrances import why_held
from queueing.state.memory.memory import Held, Memory
from queueing.state.queues.peers import Item, peers_of


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
        _unhold(memory, key)
        _join(memory, fact, local_queue.cluster_queue)


def is_over(fact: WorkloadFact) -> bool:
    """Say whether a workload is finished or being deleted, so that it is never queued again."""
    return fact.is_true("Finished") or fact.deleting


def leave(memory: Memory, key: Key) -> None:
    """Remove a workload from its queue, or from those that are held back."""
    _unhold(memory, key)
    item = memory.items.get(key)
    if item is None or item.peers is None:
        return
    memory.ledger.break_promise(key, releases=True)
    del memory.items[key]
    peers = item.peers
    memory.queues[peers.queue].remove(item)
    memory.ready.add(peers.queue)
    memory.touch(peers.queue, peers.local_queue)


def isolate(memory: Memory, item: Item, *, sticky: bool = False) -> None:
    """Move an item to peers of its own, because the result of its judgement holds for it alone.

    A `sticky` item keeps its place before others of its queue: see `queue_key`.
    """
    peers = peers_of(item)
    token = ("alone", item.fact.uid)
    order = queue_key(item.fact, item.timestamp, sticky=sticky)
    if peers.token == token and order == item.order:
        return
    queue = memory.queues[peers.queue]
    queue.remove(item)
    item.order = order
    queue.add(item, token, peers.demand)


def _join(memory: Memory, fact: WorkloadFact, name: QueueName) -> None:
    timestamp = queue_timestamp(fact, memory.settings)
    known = memory.items.get(fact.key)
    goes_on = False
    if known is not None and known.peers is not None:
        goes_on = memory.settings.preserve_scan_progress and known.peers.queue == name
        if known.peers.queue == name and _material(known.fact) == _material(fact):
            known.fact = fact
            if not memory.settings.preserve_scan_progress:
                known.progress = None
            return
        leave(memory, fact.key)
    item = Item(fact, queue_key(fact, timestamp), timestamp)
    memory.items[fact.key] = item
    demand = memory.demand(fact)
    if known is not None and goes_on:
        _go_on_with(item, known)
    queue = memory.queue(name)
    length = seconds_of(fact) if memory.credits.has_budgets else None
    token: Hashable = (demand.shape, fact.priority, fact.local_queue, length)
    if not has_peers(memory, name):
        token = ("alone", fact.uid)
    first = queue.add(item, token, demand)
    memory.ready.add(name)
    memory.touch(name, fact.local_queue)
    active = memory.active.get(name)
    if active is not None and not active.status:
        memory.announcements[fact.key] = None
    if first and memory.rules.waits_for_lacks:
        memory.wake(item)


def _go_on_with(item: Item, before: Item) -> None:
    """Keep the search progress of a changed workload, unless its priority changed.

    Progress names the demand that it is valid for, so a changed demand needs no check here.
    """
    if before.fact.priority == item.fact.priority:
        item.progress, item.progress_at = before.progress, before.progress_at
        item.progress_in = before.progress_in


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
    known = memory.aside.held.get(fact.key)
    untold = fact.key in memory.announcements
    leave(memory, fact.key)
    memory.aside.held[fact.key] = held
    if held.until is not None:
        heappush(memory.aside.timers, (held.until, fact.key))
    if held.counted and held.local_queue is not None:
        memory.aside.counted[held.local_queue] = memory.aside.counted.get(held.local_queue, 0) + 1
    memory.touch(held.wait.cluster_queue, held.local_queue)
    if known is None or untold or known.wait != held.wait:
        memory.announcements[fact.key] = None


def _unhold(memory: Memory, key: Key) -> None:
    held = memory.aside.held.pop(key, None)
    if memory.announcements:
        memory.announcements.pop(key, None)
    if held is None:
        return
    local_queue = held.local_queue
    if held.counted and local_queue is not None:
        memory.aside.counted[local_queue] -= 1
        if not memory.aside.counted[local_queue]:
            del memory.aside.counted[local_queue]
    memory.touch(held.wait.cluster_queue, local_queue)
