"""Promises: quota that pending workloads get once others have given it back.

A promise is usage in the column that the rules read, and nothing in what is held; its holder is a
candidate for preemption, because to take a promise costs nobody any work. It is served as soon as
what it says is free.
"""

from collections.abc import Iterable

from queueing.core.decisions import Mode
from queueing.core.holders import Holder
from queueing.core.names import QueueName
from queueing.core.placement.room import has_room
from queueing.state.intake.marks import unjudged
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.state.scheduler.heads import may_lead


def due(memory: Memory) -> list[Item]:
    """Return those to be judged before all others, in queue order, and take back their promises.

    They are those whose promise is free now, and preemptors of an earlier leader.
    """
    promised = memory.ledger.promised.values()
    found = [memory.items[one.key] for one in promised if _is_free(memory, one)]
    found += unjudged(memory) if memory.settings.rules.promises else ()
    return called(memory, found)


def hopeful(memory: Memory, released: Iterable[QueueName]) -> list[Item]:
    """Return those whose promise may be a better one, and take it back, as `due` does.

    Their queue offers several flavors, and quota was `released` in queues of its tree.
    """
    roots, queues = {memory.root_of(name) for name in released}, memory.objects.queues
    here = [one for one in memory.ledger.promised.values() if memory.root_of(one.queue) in roots]
    return called(
        memory,
        [
            memory.items[one.key]
            for one in here
            if one.queue in queues and any(len(g.flavors) > 1 for g in queues[one.queue].groups)
        ],
    )


def called(memory: Memory, items: Iterable[Item]) -> list[Item]:
    """Return those of some who may go before others now, in queue order, without their promise."""
    found = [one for one in items if _has_turn(memory, one)]
    for item in found:
        memory.wake(item.peers)
    return sorted(found, key=lambda one: one.order)


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
    if not memory.tree.queue(holder.queue).fits_now(holder.usage):
        return False
    return has_room(holder.usage, memory.tree.forest, as_kueue=False, now=True)
