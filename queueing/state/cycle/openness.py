"""Memos about a ClusterQueue, valid until objects change: its open LocalQueues, and its line.

An *open* LocalQueue is one whose namespace matches the namespace selector of the ClusterQueue.
"""

from collections.abc import Iterable, Iterator

from queueing.core.names import QueueName
from queueing.state.memory.memory import Memory
from queueing.state.queues.lines import Line, line_on
from queueing.state.queues.peers import Item
from queueing.state.queues.pending import PendingQueue


def is_let_in(memory: Memory, item: Item, name: QueueName) -> bool:
    """Say whether an item may be judged without checking it first.

    That holds if it has no admission checks, is configured correctly, and came by an open
    LocalQueue.
    """
    fact = item.fact
    if fact.checks or fact.misconfigured:
        return False
    return (name, fact.local_queue) in memory.open_local_queues


def line_of(memory: Memory, queue: PendingQueue) -> Line | None:
    """Return the line of a queue; None unless it is active and all its workloads share a shelf."""
    known = memory.lines.get(queue.name)
    if known is not None and known.holds:
        return known
    if queue.shelves.only is None or queue.lanes.heaps or not memory.objects.is_active(queue.name):
        return None
    found = line_on(queue, memory.objects.rules[queue.name], memory.tree.queue(queue.name))
    if found is not None:
        memory.lines[queue.name] = found
    return found


def lines_among(memory: Memory, names: Iterable[QueueName]) -> Iterator[Line | None]:
    """Yield the line of each queue that has pending workloads, None for one without a line.

    Queues without pending workloads are removed from `ready`.
    """
    lines = memory.lines
    for name in names:
        line = lines.get(name)
        # `line.holds`, written out because this runs for every queue in every round.
        if line is None or line.queue.shelves.only is not line.only or line.queue.lanes.heaps:
            queue = memory.queues.get(name)
            if queue is None or not queue.size:
                memory.ready.discard(name)
                continue
            line = line_of(memory, queue)
        yield line
