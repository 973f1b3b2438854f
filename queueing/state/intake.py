"""Where a workload stands, from what is known of it: holding quota, in a queue, or in none.

Invariant: after `place` a workload is charged, or pending in one queue, or held, or none of these
(finished, going away); never two.
"""

from collections.abc import Hashable
from dataclasses import replace
from heapq import heappush

from queueing.core.credits.allowance import LOWEST_PRIORITY, seconds_of
from queueing.core.facts import Strategy, WorkloadFact
from queueing.core.holders import Holder, holder_of
from queueing.core.names import Key, QueueName
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.state.hindrances import why_held
from queueing.state.ledger import Charge
from queueing.state.marks import note_mark, restore_claim, unmark
from queueing.state.memory import Held, Memory
from queueing.state.peers import Item


def observe_workload(memory: Memory, fact: WorkloadFact) -> None:
    """Take in what the cluster says of a workload."""
    key = fact.key
    old = memory.workloads.get(key)
    same = old is not None and old.conditions == fact.conditions and old == fact
    if same and key not in memory.unknown:
        return
    memory.stepped_down.clear()
    if old is not None and old.uid != fact.uid:
        forget_workload(memory, key)
        old = None
    if old is None:
        memory.uids[fact.uid] = key
    if old is None or old.local_queue != fact.local_queue:
        _index(memory, key, old, fact)
    for feuds in memory.feuds.values():
        if old is not None and (old.priority, old.pod_sets) != (fact.priority, fact.pod_sets):
            feuds.forget(fact.uid)
    if not same:
        memory.refusals.pop(key, None)
        memory.punished.pop(key, None)
    memory.workloads[key] = fact
    place(memory, fact)


def forget_workload(memory: Memory, key: Key) -> None:
    """Take in that a workload is no more."""
    old = memory.workloads.pop(key, None)
    if old is None:
        return
    memory.stepped_down.clear()
    memory.uids.pop(old.uid, None)
    _index(memory, key, old, None)
    leave(memory, key)
    give_back(memory, key)
    unmark(memory, key)
    memory.refusals.pop(key, None)
    memory.punished.pop(key, None)
    memory.stories.forget(key)


def place(memory: Memory, fact: WorkloadFact) -> None:
    """Put a workload where its fact says that it belongs."""
    key = fact.key
    if fact.holds_quota:
        leave(memory, key)
        _hold_quota(memory, fact)
        return
    charge = memory.ledger.charges.get(key)
    if charge is not None and charge.decision is not None and _may_be_older(memory, fact):
        return
    give_back(memory, key)
    note_mark(memory, fact)
    enqueue(memory, fact)


def enqueue(memory: Memory, fact: WorkloadFact) -> None:
    """Put a workload that holds no quota in its queue, or say why it is in none."""
    key = fact.key
    if fact.is_true("Finished") or fact.deleting:
        leave(memory, key)
        return
    door = None if fact.local_queue is None else memory.objects.local_queues.get(fact.local_queue)
    held = why_held(memory, fact, door)
    if held is not None:
        _hold_back(memory, fact, held)
    elif door is not None:
        _unhold(memory, key)
        _join(memory, fact, door.cluster_queue)


def leave(memory: Memory, key: Key) -> None:
    """Take a workload out of its queue, or out of those that are held."""
    _unhold(memory, key)
    item = memory.items.get(key)
    if item is None or item.peers is None:
        return
    memory.step_down(key)
    del memory.items[key]
    peers = item.peers
    memory.queues[peers.queue].remove(item)
    memory.ready.add(peers.queue)
    memory.touch(peers.queue, peers.local_queue)


def give_back(memory: Memory, key: Key) -> None:
    """Release what a workload holds, and the claim of its preemptor with it."""
    charge = memory.ledger.discharge(key)
    memory.assumed_from.pop(key, None)
    memory.unknown.discard(key)
    if charge is None:
        return
    memory.credits.stir(key)
    _turn_ready(memory, key)
    memory.victim_changed(key)
    queue = charge.holder.queue
    memory.releases[queue] = memory.releases.get(queue, 0) + 1
    if not _was_preempted(memory, key):
        memory.make_peace(queue)
    touch_charged(memory, charge)


def _was_preempted(memory: Memory, key: Key) -> bool:
    """Say whether quota is given back only because it was taken for another."""
    fact = memory.workloads.get(key)
    evicted = None if fact is None else fact.conditions.get("Evicted")
    ended = fact is None or fact.is_true("Finished")
    return not ended and evicted is not None and evicted.reason == "Preempted"


def touch_charged(memory: Memory, charge: Charge) -> None:
    """Note that usage changed."""
    holder, touched = charge.holder, memory.touched
    touched.queues.add(holder.queue)
    touched.charged.add(holder.queue)
    if holder.local_queue is not None:
        touched.doors.add(holder.local_queue)


def isolate(memory: Memory, item: Item, *, sticky: bool = False) -> None:
    """Take an item from its peers, because what was found holds for it alone."""
    peers = item.peers
    if peers is None:
        raise AssertionError(f"{item.fact.key} is in no queue")
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
    if first and not memory.as_kueue:
        memory.wake(item)
        if _is_strict(memory, name):
            memory.overtake(item)
    restore_claim(memory, item)


def _go_on_with(item: Item, before: Item) -> None:
    """Let a changed workload try the flavors left to it; they count only for the same demand."""
    if before.fact.priority == item.fact.priority:
        item.progress, item.progress_at = before.progress, before.progress_at


def _material(fact: WorkloadFact) -> tuple[object, ...]:
    """Return what of a pending workload a judgement may depend on."""
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
    """Say whether equal workloads of a queue are judged together.

    Not where the first blocks the others anyway: there each has its own turn.
    """
    return memory.settings.equivalence_hashing and not _is_strict(memory, name)


def _is_strict(memory: Memory, name: QueueName) -> bool:
    queue = memory.objects.queues.get(name)
    return queue is not None and queue.strategy is Strategy.STRICT_FIFO


def _hold_quota(memory: Memory, fact: WorkloadFact) -> None:
    key = fact.key
    memory.assumed_from.pop(key, None)
    if key in memory.unknown:
        memory.unknown.discard(key)
        _spare_unless_evicted(memory, fact)
    admitted = fact.is_true("Admitted")
    holder = holder_of(fact, memory.settings)
    if memory.credits.is_demoted(fact.uid):
        holder = replace(holder, priority=LOWEST_PRIORITY)
    charge = Charge(holder, admitted)
    old = memory.ledger.charges.get(key)
    if old is not None and _doors(old) != _doors(charge):
        touch_charged(memory, old)
    memory.ledger.charge(charge)
    memory.credits.stir(key)
    if old is not None and old.holder.priority != charge.holder.priority:
        memory.victim_reranked(key)
    touch_charged(memory, charge)
    _note_protection(memory, charge.holder, old)
    if admitted and not fact.is_true("PodsReady"):
        memory.unready.add(key)
    else:
        _turn_ready(memory, key)
    if old is not None and old.holder.evicted and not charge.holder.evicted:
        _spare(memory, fact)
    note_mark(memory, fact)


def _note_protection(memory: Memory, holder: Holder, old: Charge | None) -> None:
    """Note when a workload becomes a possible victim, if that is a matter of time."""
    stake = holder.stake
    if stake is None or memory.as_kueue or (old is not None and old.holder.stake == stake):
        return
    started = holder.reserved_at if stake.started is None else stake.started
    until = started + stake.minimum_runtime_s
    if until > memory.clock:
        heappush(memory.protected, (until, holder.key))


def _doors(charge: Charge) -> tuple[QueueName, Key | None]:
    return charge.holder.queue, charge.holder.local_queue


def _spare(memory: Memory, fact: WorkloadFact) -> None:
    """Note that a victim stays after all: whoever waited for its room is judged again.

    One that could not be stopped is not chosen again by the same; one that need not be, may be.
    """
    key = fact.key
    memory.victim_changed(key, spared=True)
    evicted = fact.conditions.get("Evicted")
    if evicted is not None and evicted.reason == "Withdrawn":
        for feuds in memory.feuds.values():
            feuds.forget(fact.uid)
    unmark(memory, key)


def _turn_ready(memory: Memory, key: Key) -> None:
    """Wait for the pods of a workload no longer."""
    if key in memory.unready:
        memory.unready.discard(key)
        memory.pods_turned_ready = True


def _spare_unless_evicted(memory: Memory, fact: WorkloadFact) -> None:
    """Take an eviction back of which nobody knew whether it was written: it was not."""
    if fact.is_true("Evicted") or fact.key not in memory.ledger.evicting:
        return
    memory.ledger.spare(fact.key)
    memory.victim_changed(fact.key, spared=True)
    for feuds in memory.feuds.values():
        feuds.forget(fact.uid)


def _may_be_older(memory: Memory, fact: WorkloadFact) -> bool:
    """Say whether a fact without quota may be older than the admission that was assumed.

    It is younger when the outcome was unknown and this is the answer, and when it tells of
    something that can only have come after: an end, or another eviction.
    """
    key = fact.key
    before = memory.assumed_from.get(key)
    if key in memory.unknown or before is None:
        return False
    if fact.is_true("Finished") or fact.deleting or not fact.active:
        return False
    return (
        fact.conditions.get("Evicted") == before.conditions.get("Evicted")
        and fact.requeue_count == before.requeue_count
    )


def _hold_back(memory: Memory, fact: WorkloadFact, held: Held) -> None:
    known = memory.held.get(fact.key)
    untold = fact.key in memory.announcements
    leave(memory, fact.key)
    memory.held[fact.key] = held
    if held.counted and held.local_queue is not None:
        memory.counted[held.local_queue] = memory.counted.get(held.local_queue, 0) + 1
    memory.touch(held.wait.cluster_queue, held.local_queue)
    if known is None or untold or known.wait != held.wait:
        memory.announcements[fact.key] = None


def _unhold(memory: Memory, key: Key) -> None:
    held = memory.held.pop(key, None)
    memory.announcements.pop(key, None)
    if held is None:
        return
    door = held.local_queue
    if held.counted and door is not None:
        memory.counted[door] -= 1
        if not memory.counted[door]:
            del memory.counted[door]
    memory.touch(held.wait.cluster_queue, door)


def _index(memory: Memory, key: Key, old: WorkloadFact | None, new: WorkloadFact | None) -> None:
    if old is not None and old.local_queue is not None:
        behind = memory.behind.get(old.local_queue, {})
        behind.pop(key, None)
        if not behind:
            memory.behind.pop(old.local_queue, None)
    if new is not None and new.local_queue is not None:
        memory.behind.setdefault(new.local_queue, {})[key] = None
