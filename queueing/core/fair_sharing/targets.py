"""From whom to take next: down from the root, always to the child with the highest share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from queueing.core.fair_sharing.shares import NO_SHARE, Share, Shares
from queueing.core.holders import Holder
from queueing.core.quota.node import Node


@dataclass(slots=True)
class Source:
    """A queue and its remaining candidates, the best first, as (place among all, holder)."""

    node: Node
    candidates: list[tuple[int, Holder]] = field(default_factory=list)

    def pop(self) -> Holder:
        """Take the best candidate out."""
        return self.candidates.pop(0)[1]


class Sources:
    """Candidates by queue, and the descent that finds the next queue to take from.

    Shares are kept until `changed` says that usage on the path of a queue is another.
    """

    __slots__ = ("_children", "_known", "_own", "_own_path", "_shares", "_sources", "_spent")

    def __init__(
        self, own: Node, candidates: Sequence[tuple[Node, Holder]], shares: Shares
    ) -> None:
        self._own = own
        self._own_path = frozenset((own, *own.ancestors()))
        self._shares = shares
        self._known: dict[Node, Share] = {}
        self._spent: set[Node] = set()
        self._children: dict[Node, list[Node]] = {}
        self._sources: dict[Node, Source] = {}
        for place, (node, holder) in enumerate(candidates):
            source = self._sources.setdefault(node, Source(node))
            source.candidates.append((place, holder))

    def next(self) -> Source | None:
        """Return the queue to take from, None when nobody is left."""
        root = self._own.root()
        if root.is_queue:
            source = self._sources.get(root)
            return source if source is not None and source.candidates else None
        while root not in self._spent:
            found = self._descend(root)
            if found is not None:
                return found
        return None

    def drop(self, source: Source) -> None:
        """Leave out the rest of a queue's candidates."""
        source.candidates.clear()

    def changed(self, queue: Node) -> None:
        """Forget the shares on the path of a queue."""
        for node in (queue, *queue.ancestors()):
            self._known.pop(node, None)

    def share(self, node: Node) -> Share:
        """Return a node's share as usage stands."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._shares.of(node)
        return found

    def _descend(self, cohort: Node) -> Source | None:
        """Go to the highest share below a cohort; a dead end is marked as spent on the way."""
        best: Node | None = None
        children = self._children.get(cohort)
        if children is None:
            children = sorted(cohort.children(), key=_name)
        alive = self._children[cohort] = [one for one in children if not self._is_spent(one)]
        for child in alive:
            if best is None or self._comes_before(child, best):
                best = child
        if best is None:
            self._spent.add(cohort)
            return None
        return self._sources[best] if best.is_queue else self._descend(best)

    def _is_spent(self, child: Node) -> bool:
        if child in self._spent:
            return True
        if child.is_queue:
            source = self._sources.get(child)
            if source is None or not source.candidates:
                return True
            return child is not self._own and self.share(child) == NO_SHARE
        return child not in self._own_path and self.share(child) == NO_SHARE

    def _comes_before(self, child: Node, best: Node) -> bool:
        """Prefer the higher share; then a cohort to a queue, then the better first candidate."""
        mine, other = self.share(child), self.share(best)
        if mine != other:
            return mine > other
        if child.is_queue != best.is_queue:
            return best.is_queue
        if not child.is_queue:
            return False
        return self._sources[child].candidates[0] < self._sources[best].candidates[0]


def _name(node: Node) -> str:
    return node.name
