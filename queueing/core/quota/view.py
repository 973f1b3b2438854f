"""Another usage of a quota tree, beside the one that the tree itself has."""

from collections.abc import Iterable

from queueing.core.quota.cell import Cell
from queueing.core.quota.tree import QuotaTree


class View:
    """Another usage of one tree, stored for the cells in which the two may differ.

    Invariant: before each charge of the tree, the view is charged with the amount that applies in
    it (0 for a charge that the view does not include). So the usage of all other cells is equal.
    """

    __slots__ = ("_usage",)

    def __init__(self) -> None:
        self._usage: dict[Cell, int] = {}

    def charge(self, cell: Cell, amount: int) -> None:
        """Add an amount to a queue's cell and the cells above it; these are stored from now on."""
        usages = self._usage
        above: Cell | None = cell
        while above is not None:
            usage, local = usages.get(above, above.usage), above.local
            usages[above] = now = usage + amount
            amount = max(now, local) - max(usage, local)
            above = above.parent

    def keep(self, cell: Cell) -> None:
        """Store the tree's present usage of a cell and the cells above it."""
        above: Cell | None = cell
        while above is not None:
            self._usage[above] = above.usage
            above = above.parent

    def show(self, tree: QuotaTree, cells: Iterable[Cell]) -> None:
        """Set the tree's usage on the paths of some cells to this view's until the attempt ends."""
        usages = self._usage
        for cell in cells:
            above: Cell | None = cell
            while above is not None:
                usage = usages.get(above)
                if usage is not None and usage != above.usage:
                    tree.pretend(above, usage)
                above = above.parent

    def show_all(self, tree: QuotaTree) -> None:
        """Set the tree's usage to this view's everywhere, until the attempt ends."""
        self.show(tree, list(self._usage))
