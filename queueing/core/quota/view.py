"""Usage as it would be under other charges than those that the tree holds."""

from collections.abc import Iterable

from queueing.core.quota.cell import Cell
from queueing.core.quota.tree import QuotaTree


class View:
    """Another usage of one tree, kept for the cells in which the two may differ.

    Invariant: whoever charges the tree charges the view before, with the amount that holds there
    (0 for a charge that the view does not know of). So cells that are not kept are equal.
    """

    __slots__ = ("_usage",)

    def __init__(self) -> None:
        self._usage: dict[Cell, int] = {}

    def charge(self, cell: Cell, amount: int) -> None:
        """Add an amount to a queue's cell and along its path, all of which is kept from now on."""
        usages = self._usage
        above: Cell | None = cell
        while above is not None:
            usage, local = usages.get(above, above.usage), above.local
            usages[above] = now = usage + amount
            amount = max(now, local) - max(usage, local)
            above = above.parent

    def keep(self, cell: Cell) -> None:
        """Keep what the tree says now of a cell and its path."""
        above: Cell | None = cell
        while above is not None:
            self._usage[above] = above.usage
            above = above.parent

    def show(self, tree: QuotaTree, cells: Iterable[Cell]) -> None:
        """Let the tree, for the rest of an attempt, show this view on the paths of some cells."""
        usages = self._usage
        for cell in cells:
            above: Cell | None = cell
            while above is not None:
                usage = usages.get(above)
                if usage is not None and usage != above.usage:
                    tree.pretend(above, usage)
                above = above.parent

    def show_all(self, tree: QuotaTree) -> None:
        """Let the tree, for the rest of an attempt, show this view everywhere."""
        self.show(tree, list(self._usage))
