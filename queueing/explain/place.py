"""The place of a workload in its queue, without sorting the queue."""

from bisect import bisect_left
from collections.abc import Iterator
from heapq import nlargest

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.explain.model import Place
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.pending import PendingQueue

NAMED = 3
"""How many of those ahead are named."""


def place_of(memory: Memory, item: Item) -> Place:
    """Return the place of a pending workload."""
    queue = memory.queues[item.peers.queue]
    ahead = list(before(queue, item))
    same = [
        (peers, number) for peers, number in ahead if peers.local_queue == item.fact.local_queue
    ]
    near = nlargest(
        NAMED,
        (one for peers, number in ahead for _, one in peers.line[max(0, number - NAMED) : number]),
        key=queue.place,
    )
    first = min((peers.line[0][1] for peers in queue.peers.values()), key=queue.place)
    return Place(
        position_in_cluster_queue=sum(number for _, number in ahead),
        position_in_local_queue=sum(number for _, number in same),
        pending=sum(peers.size for peers in queue.peers.values()),
        strict=memory.objects.is_strict(queue.name),
        first=first.fact.key,
        ahead=tuple(one.fact.key for one in reversed(near)),
    )


def before(queue: PendingQueue, item: Item) -> Iterator[tuple[Peers, int]]:
    """Yield groups of which some come before an item, each with how many."""
    usage, order = queue.place(item)
    for peers in queue.peers.values():
        top = peers.line[0][1]
        theirs = queue.place(top)[0]
        if theirs < usage:
            yield peers, peers.size
        elif theirs == usage and (number := bisect_left(peers.line, (order, item))):
            yield peers, number


def blocking_front(memory: Memory, fact: WorkloadFact, name: QueueName) -> Key | None:
    """Return the workload whose turn comes before that of another one, which would be in a queue.

    None if that one would be judged next. Those that were judged and are set aside do not come
    before it, except in a StrictFIFO queue.
    """
    queue = memory.queues.get(name)
    if queue is None:
        return None
    order = queue_key(fact, queue_timestamp(fact, memory.settings))
    usage = 0.0 if queue.usage_of is None else queue.usage_of(fact.local_queue)
    front = queue.front()
    if memory.objects.is_strict(name):
        tops = (peers.top() for peers in queue.peers.values())
        others = [one for one in tops if one is not None and one.fact.key != fact.key]
        front = min(others, key=queue.place, default=None)
    if front is None or front.fact.key == fact.key or queue.place(front) > (usage, order):
        return None
    return front.fact.key
