"""What a round depends on besides its heads, read from the memory."""

from collections.abc import Iterable, Sequence

from queueing.core.names import QueueName, ResourceName
from queueing.core.preemption.limits import Bound
from queueing.core.quota.node import Node
from queueing.core.rounds import Head, World
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import requests_of


def world_of(memory: Memory, heads: Sequence[Head]) -> World:
    """Return the world in which some heads are judged."""
    on_shelves = {one.queue: one for one in heads if not memory.queues[one.queue].lanes}

    def pending(name: QueueName, resource: ResourceName, left: int) -> int:
        queue = memory.queues.get(name)
        if queue is None or not memory.objects.is_active(name):
            return 0
        head = on_shelves.get(name)
        asked = 0 if head is None else requests_of(head.demand).get(resource, 0)
        return max(queue.may_take(resource, left), asked if asked <= left else 0)

    return World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
        now=memory.clock,
        bounds=_bounds(memory),
        unready=_unready(memory),
        patience=memory.credits.patience,
        followed=_followed(memory, heads),
        allowance=memory.credits.allowance,
        credited=frozenset(name for name, rank in memory.ledger.ranks.items() if rank.bends),
        pending=pending,
        leaving=bool(memory.ledger.leaving),
    )


def _followed(memory: Memory, heads: Iterable[Head]) -> frozenset[QueueName]:
    """Return the queues with more than one active workload; empty unless credits bend a weight."""
    if not memory.credits.bends:
        return frozenset()
    return frozenset(one.queue for one in heads if memory.queues[one.queue].pending()[0] > 1)


def _bounds(memory: Memory) -> dict[Node, Bound]:
    """Return the nodes that limit concurrent preemptions, with how many victims are leaving there.

    Empty in Kueue mode.
    """
    limits = memory.trees.limits if memory.rules.weighs_work else {}
    return {node: Bound(most, _leaving(memory, node)) for node, most in limits.items()}


def _leaving(memory: Memory, node: Node) -> int:
    below = {one.name for one in ((node,) if node.is_queue else memory.tree.queues_of(node))}
    return sum(name in below for name in memory.ledger.leaving.values())


def _unready(memory: Memory) -> frozenset[Node]:
    """Return the roots of trees in which admission waits until the pods of others are ready.

    Empty unless `waitForPodsReady.blockAdmission` is set.
    """
    if not memory.settings.block_admission_until_pods_ready:
        return frozenset()
    charges = (memory.ledger.charges.get(key) for key in memory.unready)
    roots = (memory.root_of(one.holder.queue) for one in charges if one is not None)
    return frozenset(root for root in roots if root is not None)
