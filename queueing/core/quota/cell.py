"""One flavor-resource of one node: its quota, its limits, its usage, and the rules over them."""

from __future__ import annotations

from typing import Protocol

from queueing.core.facts import Quota

NO_QUOTA = Quota(nominal=0)


Change = tuple[int, int, int, int]
"""Of a child: the quota that it lends, usage and held beyond its `local`, and its entries."""


class CellNode(Protocol):
    """What a cell needs to know about its node."""

    height: int


class Cell:
    """Quota and usage of one flavor-resource at one node.

    `quota` is the quota of the subtree: the node's own, and what its children lend. `local` is the
    part of it that is never lent (lendingLimit). `usage` is a queue's usage, or what a cohort's
    children use beyond their own `local`. `entries` is how many objects of the subtree list it in
    their quotas, also with 0. The formulas are those of Kueue (KEP-79).

    There are two columns of usage. `held` is what workloads hold now. `usage`, which all rules
    read, is what will be held when the victims of preemption have left: less what they give back,
    plus what is promised to others. Where nothing is promised the two are equal.
    """

    __slots__ = (
        "entries",
        "held",
        "is_listed",
        "limits",
        "local",
        "node",
        "parent",
        "quota",
        "usage",
    )

    def __init__(self, node: CellNode, parent: Cell | None) -> None:
        self.node = node
        self.parent = parent
        self.limits = NO_QUOTA
        self.is_listed = False
        """Whether the node's own object lists it; if not, `limits` is NO_QUOTA."""
        self.entries = 0
        self.quota = 0
        self.local = 0
        self.usage = 0
        self.held = 0

    def gives(self) -> Change:
        """Return what of it counts at the parent: see `Change`."""
        usage, held = max(self.usage - self.local, 0), max(self.held - self.local, 0)
        return self.quota - self.local, usage, held, self.entries

    def local_available(self) -> int:
        """Return the unused part of `local`."""
        free = self.local - self.usage
        return max(free, 0)

    def available(self) -> int:
        """Return how much more may be used here now; negative after quota was cut below usage."""
        parent = self.parent
        if parent is None:
            return self.quota - self.usage
        is_root = parent.parent is None  # most often; written out because this is the hottest call
        above = parent.quota - parent.usage if is_root else parent.available()
        local, usage = self.local, self.usage
        limit = self.limits.borrowing_limit
        if limit is not None:
            most = self.quota + limit - (usage if usage > local else local)  # noqa: FURB136 - as above
            if most < above:  # noqa: PLR1730 - as above
                above = most
        return above + local - usage if usage < local else above

    def available_now(self) -> int:
        """Return the same as `available` of what is held, not counting what is promised."""
        if self.parent is None:
            return self.quota - self.held
        above, limit = self.parent.available_now(), self.limits.borrowing_limit
        if limit is not None:
            above = min(above, self.quota + limit - max(self.held, self.local))
        return above + max(self.local - self.held, 0)

    def potential(self) -> int:
        """Return how much could be used here if nothing was used in the whole tree."""
        parent = self.parent
        if parent is None:
            return self.quota
        most = self.local + parent.potential()
        limit = self.limits.borrowing_limit
        return most if limit is None else min(most, self.quota + limit)

    def height_of_fit(self, amount: int) -> tuple[int, bool]:
        """Return up to which height `amount` must borrow, and whether the node there has a parent.

        The height is 0 if nothing is borrowed, else that of the lowest node above whose subtree's
        quota covers the amount; of the root if none does.
        """
        above = self.parent
        if above is None or self.quota >= self.usage + amount:
            return 0, above is not None
        below, remaining = self, amount
        while True:
            free = below.local - below.usage
            remaining -= free if free > 0 else 0  # noqa: FURB136 - as above
            if above.parent is None or above.quota >= above.usage + remaining:
                return above.node.height, above.parent is not None
            below, above = above, above.parent

    def set_limits(self, limits: Quota | None) -> None:
        """Replace the node's own quota and limits, and update the sums up to the root.

        None means that the object does not list this flavor-resource.
        """
        old, before = self.limits, self.gives()
        self.limits = NO_QUOTA if limits is None else limits
        self.entries += (limits is not None) - self.is_listed
        self.is_listed = limits is not None
        self.quota += self.limits.nominal - old.nominal
        self._pass_on(before)

    def receive(self, change: Change) -> None:
        """Add a change of what a child gives, and update the sums up to the root."""
        before = self.gives()
        quota, usage, held, entries = change
        self.quota += quota
        self.usage += usage
        self.held += held
        self.entries += entries
        self._pass_on(before)

    def attach(self, parent: Cell) -> None:
        """Make this a child of a cell of the new parent node."""
        self.parent = parent
        parent.receive(self.gives())

    def detach(self) -> None:
        """Remove this cell from its parent and from the sums above."""
        if self.parent is not None:
            self.parent.receive(_less((0, 0, 0, 0), self.gives()))
            self.parent = None

    def _pass_on(self, before: Change) -> None:
        lending = self.limits.lending_limit
        self.local = 0 if lending is None else max(0, self.quota - lending)
        change = _less(self.gives(), before)
        if self.parent is not None and any(change):
            self.parent.receive(change)


def _less(these: Change, those: Change) -> Change:
    quota, usage, held, entries = (this - that for this, that in zip(these, those, strict=True))
    return quota, usage, held, entries
