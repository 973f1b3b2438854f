"""One flavor-resource of one node: its quota, its limits, its usage, and the rules over them."""

from __future__ import annotations

from typing import Protocol

from queueing.core.facts import Quota

NO_QUOTA = Quota(nominal=0)


class Place(Protocol):
    """What a cell knows of its node."""

    height: int


class Cell:
    """Quota and usage of one flavor-resource at one node.

    `quota` is what the subtree has, `local` the part of it that is never lent, `usage` what the
    subtree uses of it beyond what its children keep to themselves.
    """

    __slots__ = ("limits", "local", "node", "parent", "quota", "usage")

    def __init__(self, node: Place, parent: Cell | None) -> None:
        self.node = node
        self.parent = parent
        self.limits = NO_QUOTA
        self.quota = 0
        self.local = 0
        self.usage = 0

    def spill(self) -> int:
        """Usage that the parent has to bear."""
        over = self.usage - self.local
        return max(over, 0)

    def local_available(self) -> int:
        """Unused part of the quota that is never lent."""
        free = self.local - self.usage
        return max(free, 0)

    def available(self) -> int:
        """How much more may be used here now; negative after quota was cut below usage."""
        parent = self.parent
        if parent is None:
            return self.quota - self.usage
        is_root = parent.parent is None  # most often; that spares a call of what is asked most
        above = parent.quota - parent.usage if is_root else parent.available()
        local, usage = self.local, self.usage
        limit = self.limits.borrowing_limit
        if limit is not None:
            most = self.quota + limit - (usage if usage > local else local)  # noqa: FURB136 - as above
            above = min(above, most)
        return above + local - usage if usage < local else above

    def potential(self) -> int:
        """How much could be used here if nobody else used anything."""
        parent = self.parent
        if parent is None:
            return self.quota
        most = self.local + parent.potential()
        limit = self.limits.borrowing_limit
        return most if limit is None else min(most, self.quota + limit)

    def height_of_fit(self, amount: int) -> tuple[int, bool]:
        """Return how far up `amount` must borrow, and whether that subtree has a parent.

        The height is 0 when nothing is borrowed, else that of the lowest subtree whose own quota
        covers the amount (of the root when none does).
        """
        above = self.parent
        if above is None or self.quota >= self.usage + amount:
            return 0, above is not None
        remaining = amount - self.local_available()
        while True:
            if above.quota >= above.usage + remaining:
                return above.node.height, above.parent is not None
            remaining -= above.local_available()
            if above.parent is None:
                return above.node.height, False
            above = above.parent

    def set_limits(self, limits: Quota) -> None:
        """Replace the node's own quota and limits, and carry the difference up."""
        quota, spill = self.quota - self.local, self.spill()
        self.quota += limits.nominal - self.limits.nominal
        self.limits = limits
        self._keep()
        if self.parent is not None:
            self.parent.receive(self.quota - self.local - quota, self.spill() - spill)

    def receive(self, quota: int, usage: int) -> None:
        """Take what a child gives more (or less) than before: lendable quota and spilled usage."""
        cell: Cell | None = self
        while cell is not None and (quota or usage):
            lent_before, spill_before = cell.quota - cell.local, cell.spill()
            cell.quota += quota
            cell.usage += usage
            cell._keep()  # noqa: SLF001 - a cell of the same path
            quota = cell.quota - cell.local - lent_before
            usage = cell.spill() - spill_before
            cell = cell.parent

    def attach(self, parent: Cell) -> None:
        """Hang this cell under a cell of the new parent."""
        self.parent = parent
        parent.receive(self.quota - self.local, self.spill())

    def detach(self) -> None:
        """Take this cell out of its parent's sums."""
        if self.parent is not None:
            self.parent.receive(self.local - self.quota, -self.spill())
            self.parent = None

    def _keep(self) -> None:
        lending = self.limits.lending_limit
        self.local = 0 if lending is None else max(0, self.quota - lending)
