"""What is remembered of a queue until objects change: it is active, its LocalQueues, its line."""

from queueing.core.names import QueueName
from queueing.state.lines import Line
from queueing.state.memory import Memory
from queueing.state.peers import Item
from queueing.state.pending import PendingQueue


def is_active(memory: Memory, name: QueueName) -> bool:
    """Say whether a ClusterQueue exists and may admit."""
    active = memory.objects.activity(name)
    return active is not None and active.status


def is_let_in(memory: Memory, item: Item, name: QueueName) -> bool:
    """Say whether it is known that nothing keeps an item from being judged."""
    fact = item.fact
    if fact.checks or fact.misconfigured:
        return False
    return (name, fact.local_queue) in memory.open_doors


def line_of(memory: Memory, queue: PendingQueue) -> Line | None:
    """Return the line in which all of a queue stand, None where they do not or it is inactive."""
    known = memory.lines.get(queue.name)
    if known is not None and known.holds:
        return known
    only = queue.shelves.only
    if only is None or queue.lanes.heaps or not is_active(memory, queue.name):
        return None
    cell = memory.tree.queue(queue.name).cell(only[0])
    rules = memory.objects.rules[queue.name]
    found = memory.lines[queue.name] = Line(queue, rules, only, only[1], cell)
    return found
