"""Removes victims from the quota tree one by one, and puts back those that are not needed."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from queueing.core.holders import Holder
from queueing.core.preemption.query import Query, Target
from queueing.core.quota.tree import QuotaTree

One = TypeVar("One")


def needed(
    gone: Sequence[One], charge: Callable[[One, int], None], suffices: Callable[[], bool]
) -> list[One]:
    """Return who of some must go: each that is gone, from the last to the first, stays if it may.

    It may if all the same there is enough. `charge` lets one stay, or with sign -1 go.
    """
    kept = list(gone)
    for index in range(len(gone) - 1, -1, -1):
        charge(gone[index], 1)
        if suffices():
            del kept[index]
        else:
            charge(gone[index], -1)
    return kept


class Room:
    """The quota, and the places, that a preemptor needs; used inside `QuotaTree.attempt()`."""

    __slots__ = ("_has_place", "_needs", "_tree")

    def __init__(self, tree: QuotaTree, query: Query) -> None:
        self._tree, self._has_place = tree, query.has_place
        node = query.preemptor.node
        self._needs = [(node.cell(resource), amount) for resource, amount in query.requests.items()]

    def fits(self, *, borrowing: bool) -> bool:
        """Say whether all that it needs is available, without borrowing unless `borrowing`."""
        return self._has_quota(borrowing=borrowing) and (
            self._has_place is None or self._has_place()
        )

    def _has_quota(self, *, borrowing: bool) -> bool:
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
        self._tree.remove_usage(holder.queue, holder.counted)

    def restore(self, holder: Holder) -> None:
        """Add a victim's usage again."""
        self._tree.add_usage(holder.queue, holder.counted)

    def fill_back(self, targets: list[Target], *, borrowing: bool) -> list[Target]:
        """Return the victims that are needed."""

        def charge(one: Target, sign: int) -> None:
            self._tree.add_usage(one.holder.queue, one.holder.counted, sign)

        return needed(targets, charge, lambda: self.fits(borrowing=borrowing))
