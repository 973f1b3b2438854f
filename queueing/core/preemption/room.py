"""Removes victims from the quota tree one by one, and puts back those that are not needed."""

from collections.abc import Mapping

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource
from queueing.core.preemption.query import Target
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree


class Room:
    """The quota that a preemptor needs in its queue; used inside `QuotaTree.attempt()`."""

    __slots__ = ("_needs", "_tree")

    def __init__(self, tree: QuotaTree, node: Node, requests: Mapping[FlavorResource, int]) -> None:
        self._tree = tree
        self._needs = [(node.cell(resource), amount) for resource, amount in requests.items()]

    def fits(self, *, borrowing: bool) -> bool:
        """Say whether all that it needs is available, without borrowing unless `borrowing`."""
        for cell, amount in self._needs:
            if not borrowing and cell.quota < cell.usage + amount:
                return False
            if amount > max(0, cell.available()):
                return False
        return True

    def take(self) -> None:
        """Charge the preemptor's requests, as if it had been admitted."""
        for cell, amount in self._needs:
            self._tree.charge(cell, amount)

    def leave(self) -> None:
        """Undo `take`."""
        for cell, amount in self._needs:
            self._tree.charge(cell, -amount)

    def fits_beside_itself(self) -> bool:
        """Say whether the preemptor fits, given that `take` has charged its requests."""
        self.leave()
        fits = self.fits(borrowing=True)
        self.take()
        return fits

    def clear(self, holder: Holder) -> None:
        """Remove a victim's usage."""
        self._tree.remove_usage(holder.queue, holder.usage)

    def restore(self, holder: Holder) -> None:
        """Add a victim's usage again."""
        self._tree.add_usage(holder.queue, holder.usage)

    def fill_back(
        self, targets: list[Target], *, borrowing: bool, needs_last: bool = True
    ) -> list[Target]:
        """Return the victims that are needed; each, from last to first, is spared if it may be.

        `needs_last` says that the last one is known to be needed.
        """
        kept = list(targets)
        for index in range(len(targets) - 1 - needs_last, -1, -1):
            holder = targets[index].holder
            self.restore(holder)
            if self.fits(borrowing=borrowing):
                del kept[index]
            else:
                self.clear(holder)
        return kept
