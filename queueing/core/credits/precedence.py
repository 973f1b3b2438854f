"""Which heads of a round are passed over, so that a queue with a smaller share may go on.

A round has one head of each queue and admits all that fit. So while quota is free, every queue gets
as many workloads as the others, whatever their weights. Where credits bend weights, preemption by
shares would undo that as soon as the quota is used up, and waste all work started too early
(docs/decisions/0052).
"""

from collections.abc import Mapping

from queueing.core.fair_sharing.shares import Share, Shares
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree


class Precedence:
    """The shares that queues served in this round would have with as much usage again.

    Only queues in which others wait count. A head stands back only if one of the two weights is
    bent, and only if it would borrow.
    """

    __slots__ = ("_next", "_served", "_shares", "_tree")

    def __init__(self, tree: QuotaTree) -> None:
        self._tree = tree
        self._shares = Shares()
        self._served: list[tuple[QuotaNode, Mapping[FlavorResource, int]]] = []
        """Queues served whose shares are not computed yet: in many rounds they are not needed."""
        self._next: dict[QuotaNode, tuple[Share, QuotaNode]] = {}
        """Cohort → the smallest such share of its children, and the child that has it."""

    def served(self, queue: QuotaNode, usage: Mapping[FlavorResource, int]) -> None:
        """Note that a workload of a queue in which others wait was admitted with this usage."""
        self._served.append((queue, usage))

    def stands_back(self, queue: QuotaNode, usage: Mapping[FlavorResource, int]) -> bool:
        """Say whether a head must be passed over, because a served queue's next share is smaller.

        `usage` is what the head would add to its queue's usage.
        """
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

    def _measure(self, queue: QuotaNode, usage: Mapping[FlavorResource, int]) -> None:
        for node, share in self._shares_with(queue, usage):
            parent = node.parent
            if parent is None:
                continue
            best = self._next.get(parent)
            if best is None or best[1] is node or share < best[0]:
                self._next[parent] = share, node

    def _shares_with(
        self, queue: QuotaNode, usage: Mapping[FlavorResource, int]
    ) -> list[tuple[QuotaNode, Share]]:
        """Return the shares of the nodes from a queue up to below the root, with added usage."""
        own = (queue, self._shares.of(queue, usage))
        if queue.parent is None or queue.parent.parent is None:
            return [own]
        with self._tree.attempt():
            self._tree.add_usage(QueueName(queue.name), usage)
            return [own, *((node, self._shares.of(node)) for node in queue.ancestors())]
