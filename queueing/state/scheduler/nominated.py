"""Promises: quota that pending workloads get once others have given it back.

A promise is usage in the column that the rules read, and nothing in what is held; its holder is a
candidate for preemption, because to take a promise costs nobody any work. It is served as soon as
what it says is free.
"""

from collections.abc import Iterable

from queueing.core.decisions import Admit, Mode, Reason
from queueing.core.entries import Ruling
from queueing.core.holders import Holder
from queueing.core.names import Key
from queueing.core.placement.pods import used_at, wanted_places
from queueing.core.topology.placement import place, placements, unplaced
from queueing.core.topology.searching import Terms
from queueing.core.topology.usage import joined, places_of, without_places
from queueing.state.intake.holding import turn_of
from queueing.state.intake.marks import unjudged
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import READY, Item
from queueing.state.scheduler.heads import may_lead


def holder_of_promise(ruling: Ruling, now: float) -> Holder:
    """Return the holder of what a ruling promises."""
    head = ruling.entry.head
    return Holder(
        key=head.workload.key,
        uid=head.workload.uid,
        queue=head.queue,
        local_queue=head.workload.local_queue,
        priority=head.workload.priority,
        timestamp=head.timestamp,
        reserved_at=now,
        evicted=False,
        usage=ruling.kept,
        promised=True,
    )


def due(memory: Memory) -> list[Item]:
    """Return those to be judged before all others, in queue order, and take back their promises.

    They are those whose promise is free now, and preemptors of an earlier leader.
    """
    promised = memory.ledger.promised.values()
    found = [memory.items[one.key] for one in promised if _is_free(memory, one)]
    found += unjudged(memory) if memory.rules.promises else ()
    return _called(memory, found)


def hopeful(memory: Memory) -> list[Holder]:
    """Return the holders of promises that may get more, because quota was released."""
    return [one for one in memory.ledger.promised.values() if _may_do_better(memory, one)]


def still(memory: Memory, hopeful: Iterable[Holder]) -> list[Item]:
    """Return those of some that have kept their promise since, and take it back, as `due` does."""
    kept = memory.ledger.promised
    return _called(memory, [memory.items[one.key] for one in hopeful if kept.get(one.key) is one])


def _called(memory: Memory, items: Iterable[Item]) -> list[Item]:
    found = [one for one in items if _has_turn(memory, one)]
    for item in found:
        memory.wake(item.peers)
    return sorted(found, key=lambda one: one.order)


def returning(memory: Memory) -> list[Item]:
    """Return those who were moved and have left their place, those with most pods first.

    So those of one gang find the places again that were found for them together. They are judged
    once, after the promises and before all others: what was kept for them while they were leaving
    is theirs to take. To wait for the pods of others does not count, nor that they are held back
    for a while; whoever does not count as pending loses its turn.
    """
    turns = {key: turn for key, turn in memory.returning.items() if _is_pending(memory, key)}
    memory.returning = turns
    known = (memory.items.get(key) for key in turns)
    found = [one for one in known if one and _is_to_be_judged(one) and _has_turn(memory, one)]
    for item in found:
        memory.wake(item.peers)
    return sorted(found, key=lambda one: turns[one.fact.key])


def settle_elsewhere(memory: Memory) -> None:
    """Find a place for those who are moved and have none kept, beside what their gang was promised.

    That is where a node is gone, or a new leader knows none. Who finds none keeps its quota, and
    its turn before all others when it has left.
    """
    ledger, forest = memory.ledger, memory.tree.forest
    memory.unsettled.intersection_update(ledger.moving)
    ripe = [key for key in memory.unsettled if not _is_gang_awaited(memory, key)]
    memory.unsettled.difference_update(ripe)
    holders = [ledger.charges[key].holder for key in ripe]
    for holder in sorted(holders, key=turn_of):
        kept = places_of(ledger.moving[holder.key])
        if not places_of(holder.usage) or (kept and not any(map(forest.is_overdrawn, kept))):
            continue
        fact, quota = memory.workloads[holder.key], without_places(holder.usage)
        ledger.keep(holder.key, quota)
        wanted, troubles = wanted_places(fact, forest, anew=True)
        found = place(forest, wanted, Terms(profile=memory.settings.placement))
        if not troubles and unplaced(found) is None:
            ledger.keep(holder.key, used_at(fact, quota, placements(found)))


def _is_gang_awaited(memory: Memory, moved: Key) -> bool:
    """Say whether the gang for which a workload is moved is about to be judged."""
    item = memory.items.get(memory.preemptor_of(moved))
    return item is not None and item.peers.stand is READY


def end_turns(memory: Memory, rulings: Iterable[Ruling]) -> None:
    """Note which of those who return were judged."""
    for decision in (one.decision for one in rulings):
        if isinstance(decision, Admit) or decision.reason is not Reason.WAITING_FOR_PODS_READY:
            memory.returning.pop(decision.workload, None)


def _is_pending(memory: Memory, key: Key) -> bool:
    held = memory.aside.held.get(key)
    return key in memory.items or (held is not None and held.counts_in is not None)


def _is_to_be_judged(item: Item) -> bool:
    return item.wait is None or item.peers.stand is READY


def _has_turn(memory: Memory, item: Item) -> bool:
    """Say whether its queue lets an item go before others: a StrictFIFO head must be first."""
    name = item.peers.queue
    if not memory.objects.is_active(name):
        return False
    queue = memory.queues[name]
    if not memory.objects.is_strict(name):
        return True
    front = queue.front()
    is_first = front is None or front.order >= item.order  # whoever's turn it is
    return is_first and may_lead(memory, queue, item)


def _is_free(memory: Memory, holder: Holder) -> bool:
    """Say whether nobody holds any more what was promised.

    What a StrictFIFO head without candidates keeps is no promise: it waits for more than that.
    """
    wait = memory.items[holder.key].wait
    if wait is None or wait.mode is Mode.NO_CANDIDATES or not memory.tree.has_queue(holder.queue):
        return False
    node = memory.tree.queue(holder.queue)
    return all(
        amount <= max(0, node.cell(resource).available_now())
        for resource, amount in holder.usage.items()
    ) and all(memory.tree.forest.has_room(one, now=True) for one in joined(places_of(holder.usage)))


def _may_do_better(memory: Memory, holder: Holder) -> bool:
    """Say whether quota was released in the tree of a queue that offers several flavors."""
    released, root = memory.ledger.changes.released, memory.root_of(holder.queue)
    if root is None or not any(memory.root_of(name) is root for name in released):
        return False
    return any(len(one.flavors) > 1 for one in memory.objects.queues[holder.queue].groups)
