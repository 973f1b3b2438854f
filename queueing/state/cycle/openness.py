"""Memos about a queue until objects change: which LocalQueues it lets in, and its line."""

from collections.abc import Iterable, Iterator

from queueing.core.names import QueueName
from queueing.state.memory.memory import Memory
from queueing.state.queues.lines import Line, line_on
from queueing.state.queues.peers import Item
from queueing.state.queues.pending import PendingQueue


def is_let_in(memory: Memory, item: Item, name: QueueName) -> bool:
    """Say whether an item is known to need no check before it is judged."""
    fact = item.fact
    if fact.checks or fact.misconfigured:
        return False
    return (name, fact.local_queue) in memory.open_local_queues


def line_of(memory: Memory, queue: PendingQueue) -> Line | None:
    """Return the line of an active queue whose workloads all wait on one shelf, else None."""
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
    """Yield the line of each of some queues in which anybody waits, None for one without a line.

    Queues in which nobody waits leave `ready`.
    """
    lines = memory.lines
    for name in names:
        line = lines.get(name)
        # Written out, not asked of the line: this is done for every queue of every round.
        if line is None or line.queue.shelves.only is not line.only or line.queue.lanes.heaps:
            queue = memory.queues.get(name)
            if queue is None or not queue.size:
                memory.ready.discard(name)
                continue
            line = line_of(memory, queue)
        yield line
