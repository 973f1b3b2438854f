"""Which queue the next victim is taken from: descends to the child with the largest share."""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from queueing.core.fair_sharing.shares import Share, Shares
from queueing.core.holders import Holder
from queueing.core.quota.node import QuotaNode

Place = tuple[int, float, bool, tuple[object, ...], str]
"""Sorts ascending: larger share first, a cohort before a queue, the better candidate, name."""


class RankedCandidate(NamedTuple):
    """A possible victim: its place among those of other queues, and its queue."""

    place: tuple[object, ...]
    node: QuotaNode
    holder: Holder


@dataclass(slots=True)
class CandidateQueue:
    """A queue and its workloads that are still candidates, the best first.

    Where LocalQueues take turns, the best is not the one with the smallest `place`.
    """

    node: QuotaNode
    candidates: list[RankedCandidate] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class CandidateQueues:
    """All candidates by queue, and the search for the queue of the next victim.

    Each cohort has its children in a heap, sorted by share. Shares, and so places in the heaps, are
    computed anew when `changed` is called for a queue on whose path usage changed.
    """

    own: QuotaNode
    candidates: InitVar[Sequence[RankedCandidate]]
    shares: Shares
    _own_path: frozenset[QuotaNode] = field(init=False)
    _known: dict[QuotaNode, Share] = field(default_factory=dict)
    _versions: dict[QuotaNode, int] = field(default_factory=dict)
    _heaps: dict[QuotaNode, list[tuple[Place, int, QuotaNode]]] = field(default_factory=dict)
    _queues: dict[QuotaNode, CandidateQueue] = field(default_factory=dict)
    _members: dict[QuotaNode, dict[QuotaNode, None]] = field(default_factory=dict)

    def __post_init__(self, candidates: Sequence[RankedCandidate]) -> None:
        self._own_path = frozenset((self.own, *self.own.ancestors()))
        for one in candidates:
            queue = self._queues.get(one.node)
            if queue is None:
                queue = self._queues[one.node] = CandidateQueue(one.node)
                self._enroll(one.node)
            queue.candidates.append(one)

    def next(self) -> CandidateQueue | None:
        """Return the queue of the next victim; None if no candidate is left."""
        node = self.own.root
        while not node.is_queue:
            child = self._highest(node)
            if child is not None:
                node = child
            elif node.parent is None:
                return None
            else:
                heappop(self._heaps[node.parent])
                node = node.parent
        queue = self._queues.get(node)
        return queue if queue is not None and queue.candidates else None

    def changed(self, queue: QuotaNode) -> None:
        """Forget the shares of all nodes on the path of a queue, because its usage changed."""
        path = [queue, *queue.ancestors()]
        for node in path:
            self._known.pop(node, None)
        for node in path[:-1]:
            version = self._versions[node] = self._versions.get(node, 0) + 1
            parent = node.parent
            if parent in self._heaps and not self._is_spent(node):
                heappush(self._heaps[parent], (self._place(node), version, node))

    def share(self, node: QuotaNode) -> Share:
        """Return a node's share at the present usage."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self.shares.of(node)
        return found

    def _enroll(self, queue: QuotaNode) -> None:
        """Add a queue to the members of its cohort, and that to those of its parent, and so on."""
        child = queue
        for cohort in queue.ancestors():
            members = self._members.setdefault(cohort, {})
            if child in members:
                return
            members[child] = None
            child = cohort

    def _highest(self, cohort: QuotaNode) -> QuotaNode | None:
        """Return the child with the largest share; children without candidates leave the heap."""
        heap = self._heaps.get(cohort)
        if heap is None:
            heap = self._heaps[cohort] = [
                (self._place(child), self._versions.get(child, 0), child)
                for child in self._members.get(cohort, ())
                if not self._is_spent(child)
            ]
            heapify(heap)
        while heap:
            _, version, child = heap[0]
            if version == self._versions.get(child, 0) and not self._is_spent(child):
                return child
            heappop(heap)
        return None

    def _is_spent(self, child: QuotaNode) -> bool:
        if child.is_queue:
            queue = self._queues.get(child)
            if queue is None or not queue.candidates:
                return True
            return child is not self.own and not self.share(child)[1]
        return child not in self._own_path and not self.share(child)[1]

    def _place(self, child: QuotaNode) -> Place:
        """Return the place of a child in the heap of its cohort."""
        infinite, value = self.share(child)
        first = self._queues[child].candidates[0].place if child.is_queue else ()
        return -infinite, -value, child.is_queue, first, child.name
