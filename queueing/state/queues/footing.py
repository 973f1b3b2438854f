"""A memo: what a workload on a shelf needs, and its place in the order of a round.

After a release nearly every queue of a tree has a workload that it could help, but few of them are
admitted. The others are looked at again in each round and after each release. What they need stays
the same. Their place stays the same as long as the usage does from which it was worked out.

Invariant: a footing that `holds` is what would be worked out anew. So nobody has to invalidate it:
whoever uses one asks first whether it holds.
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
Place = EntryKey | Score
"""Among the entries of the tree that are decided in a round; by shares where these count."""


@dataclass(slots=True, eq=False, kw_only=True)
class Footing:
    """What was found of a workload that fits: its needs, and how far each of them borrows."""

    place: Place
    node: Node
    usage: Mapping[FlavorResource, int]
    needs: Needs
    levels: list[int]
    rules: QueueRules
    generation: int
    """The generation of the tree when the place was worked out."""
    usages: Needs
    """The usage, at that time, of all cells that the place depends on."""
    width: int
    """How many cells its queue had at that time."""
    line: object = None
    """The line that let it in by its namespace; None where it was not found through a line."""

    def holds(self, rules: QueueRules, root: Node) -> bool:
        """Say whether it would be worked out the same again. Whether it fits is not part of it."""
        if self.rules is not rules or self.generation != root.generation:
            return False
        for cell, usage in self.usages:
            if cell.usage != usage:
                return False
        return self.width == len(self.node.cells)


def fits(needs: Needs) -> bool:
    """Say whether there is enough of all that is needed."""
    for cell, amount in needs:  # noqa: SIM110 - asked of every head; a generator costs twice as much
        if amount > cell.available():
            return False
    return True


def usages_of(node: Node, needs: Needs, *, by_shares: bool) -> Needs:
    """Return the usage of all cells on which the place of a workload with these needs depends.

    Whether and how far it borrows depends on each needed cell and on those above it, except the
    root's. Its share, which counts just below the root only, depends on all cells of its queue.
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
