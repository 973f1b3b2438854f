"""Who of a round stands back so that a queue with the smaller share may go on.

A round has one head of each queue, and admits all that fit: so, while there is room, every queue
gets as many as the others, whatever their weights. Where credits bend weights, preemption by shares
would take that back as soon as the room is used up, at the cost of everything started too early.
"""

from collections.abc import Mapping

from queueing.core.fair_sharing.shares import Share, Shares
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree


class Precedence:
    """What the queues that were served in this round would have as shares with as much again.

    Only queues in which others wait count. Where no weight is bent nobody stands back, nor does
    who needs no more than its quota.
    """

    __slots__ = ("_next", "_served", "_shares", "_tree")

    def __init__(self, tree: QuotaTree) -> None:
        self._tree = tree
        self._shares = Shares()
        self._served: list[tuple[Node, Mapping[FlavorResource, int]]] = []
        """Not measured yet: that takes time, and in many rounds nobody asks."""
        self._next: dict[Node, tuple[Share, Node]] = {}
        """By cohort, the smallest of the shares of its children, and whose it is."""

    def served(self, queue: Node, usage: Mapping[FlavorResource, int]) -> None:
        """Note that a queue was given quota, and that others wait in it."""
        self._served.append((queue, usage))

    def stands_back(self, queue: Node, usage: Mapping[FlavorResource, int]) -> bool:
        """Say whether one that borrows would have a larger share than another's next."""
        if self._served:
            for one in self._served:
                self._measure(*one)
            self._served.clear()
        if not self._next:
            return False
        for node, share in self._shares_with(queue, usage):
            best = self._next.get(node.parent) if node.parent is not None else None
            if best is None or best[1] is node:
                continue
            if (node.bend is not None or best[1].bend is not None) and best[0] < share:
                return True
        return False

    def _measure(self, queue: Node, usage: Mapping[FlavorResource, int]) -> None:
        for node, share in self._shares_with(queue, usage):
            parent = node.parent
            if parent is None:
                continue
            best = self._next.get(parent)
            if best is None or best[1] is node or share < best[0]:
                self._next[parent] = share, node

    def _shares_with(
        self, queue: Node, usage: Mapping[FlavorResource, int]
    ) -> list[tuple[Node, Share]]:
        """Return the shares, from a queue up to below the root, with so much more in use."""
        own = (queue, self._shares.of(queue, usage))
        if queue.parent is None or queue.parent.parent is None:
            return [own]
        with self._tree.attempt():
            self._tree.add_usage(QueueName(queue.name), usage)
            return [own, *((node, self._shares.of(node)) for node in queue.ancestors())]
