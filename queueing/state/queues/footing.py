"""A memo: what a workload on a shelf needs, and its place in the order of a round.

After a release nearly every queue of a tree has a workload that it could help, but few of them are
admitted. The others are looked at again in each round and after each release. What they need stays
the same. Their place stays the same as long as the usage from which it was computed does.

Invariant: a footing that `holds` equals one that is computed anew. So it need not be invalidated:
its users check first that it holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.core.fair_sharing.order import Score
from queueing.core.names import FlavorResource
from queueing.core.ordering import EntryKey
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node

Needs = list[tuple[Cell, int]]
"""Cells of the quota tree, each with an amount."""
Place = EntryKey | Score
"""The place among the entries of a tree in a round: a `Score` with fair sharing."""


@dataclass(slots=True, eq=False, kw_only=True)
class Footing:
    """What is known of a workload that fits: the amounts that it needs, and its place in a round.

    `levels` is, for each amount, the height in the tree up to which it borrows, 0 for none.
    """

    place: Place
    node: Node
    usage: Mapping[FlavorResource, int]
    needs: Needs
    levels: list[int]
    rules: QueueRules
    generation: int
    """The generation of the tree when the place was computed."""
    usages: Needs
    """The usage, at that time, of all cells that the place depends on."""
    width: int
    """How many cells its queue had at that time."""
    line: object = None
    """The line in which it was found, after its LocalQueue had been checked; None without one."""

    def holds(self, rules: QueueRules, root: Node) -> bool:
        """Say whether it is still valid. Whether the workload still fits is not part of that."""
        if self.rules is not rules or self.generation != root.generation:
            return False
        for cell, usage in self.usages:
            if cell.usage != usage:
                return False
        return self.width == len(self.node.cells)


def fits(needs: Needs) -> bool:
    """Say whether each of these amounts is available."""
    for cell, amount in needs:  # noqa: SIM110 - asked of every head; a generator costs twice as much
        if amount > cell.available():
            return False
    return True


def usages_of(node: Node, needs: Needs, *, by_shares: bool) -> Needs:
    """Return the usage of all cells on which the place of a workload with these needs depends.

    Whether and how far it borrows depends on each needed cell and on those above it, except the
    root's. Its share depends on all cells of its queue (footings by shares exist only for queues
    directly below the root).
    """
    if by_shares:
        return [(cell, cell.usage) for cell in node.cells.values()]
    found = []
    for cell, _ in needs:
        found.append((cell, cell.usage))
        above = cell.parent
        while above is not None and above.parent is not None:
            found.append((above, above.usage))
            above = above.parent
    return found
