"""Who holds what a workload lacks."""

from collections.abc import Collection, Iterator
from heapq import nlargest

from queueing.core.names import FlavorResource, Key
from queueing.core.quantities import quantity
from queueing.core.quota.node import Node
from queueing.explain.model import Held
from queueing.explain.spelling import told
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge

NAMED = 5

Place = tuple[bool, int, FlavorResource, Key]


def holders_of(
    memory: Memory, node: Node, short: Collection[FlavorResource]
) -> tuple[tuple[Held, ...], int]:
    """Return the largest holders of any of some flavor-resources in a tree, and how many hold any.

    Those of the queue's own come first, then those whose queue borrows.
    """
    found = [
        (_place(memory, node, charge, one), charge) for charge, one in _all(memory, node, short)
    ]
    largest = nlargest(NAMED, found, key=lambda one: one[0])
    told_of = tuple(_held(memory, charge, place[2]) for place, charge in largest)
    return told_of, len({charge.holder.key for _, charge in found})


def _all(
    memory: Memory, node: Node, short: Collection[FlavorResource]
) -> Iterator[tuple[Charge, FlavorResource]]:
    for name in memory.trees.members.get(node.root, ()):
        for charge in memory.ledger.charges_of(name):
            for one in short:
                if charge.holder.usage.get(one):
                    yield charge, one


def _place(memory: Memory, node: Node, charge: Charge, one: FlavorResource) -> Place:
    queue = memory.tree.queue(charge.holder.queue)
    near = queue is node or _borrows(queue, one)
    return near, charge.holder.usage[one], one, charge.holder.key


def _borrows(queue: Node, one: FlavorResource) -> bool:
    return queue.parent is not None and queue.borrows((one,))


def _held(memory: Memory, charge: Charge, one: FlavorResource) -> Held:
    holder = charge.holder
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
    )
