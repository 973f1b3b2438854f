"""Who holds what a workload lacks, and for whom it is kept."""

from collections.abc import Collection, Iterator
from heapq import nlargest
from itertools import chain

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.explain.model import Held
from queueing.explain.spelling import told
from queueing.state.memory.memory import Memory

NAMED = 5

Place = tuple[bool, int, FlavorResource, Key]


def holders_of(
    memory: Memory, node: QuotaNode, short: Collection[FlavorResource], without: Key
) -> tuple[tuple[Held, ...], int]:
    """Return the largest holders of any of some flavor-resources in a tree, and how many hold any.

    Those of the queue's own come first, then those whose queue borrows. `without` is the workload
    that asks: what is kept for itself is not in its way.
    """
    found = [
        (_place(memory, node, holder, one), holder)
        for holder, one in _all(memory, node, short)
        if holder.key != without
    ]
    largest = nlargest(NAMED, found, key=lambda one: one[0])
    told_of = tuple(_held(memory, holder, place[2]) for place, holder in largest)
    return told_of, len({holder.key for _, holder in found})


def _all(
    memory: Memory, node: QuotaNode, short: Collection[FlavorResource]
) -> Iterator[tuple[Holder, FlavorResource]]:
    names = memory.queues_of(node.root)
    held = (one.holder for name in names for one in memory.ledger.charges_of(name))
    promised = memory.ledger.promised.values()
    kept = (one for one in promised if memory.root_of(one.queue) is node.root)
    for holder in chain(held, kept):
        for one in short:
            if holder.usage.get(one):
                yield holder, one


def _place(memory: Memory, node: QuotaNode, holder: Holder, one: FlavorResource) -> Place:
    queue = memory.tree.queue(holder.queue)
    near = queue is node or _borrows(queue, one)
    return near, holder.usage[one], one, holder.key


def _borrows(queue: QuotaNode, one: FlavorResource) -> bool:
    return queue.parent is not None and queue.borrows((one,))


def _held(memory: Memory, holder: Holder, one: FlavorResource) -> Held:
    return Held(
        workload=holder.key,
        cluster_queue=holder.queue,
        flavor=one.flavor,
        resource=one.resource,
        amount=quantity(one.resource, holder.usage[one]),
        priority=holder.priority,
        since=told(holder.reserved_at),
        borrows=_borrows(memory.tree.queue(holder.queue), one),
        leaving=holder.evicted,
        waits=holder.promised,
    )
