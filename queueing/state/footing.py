"""What a workload on a shelf needs and its place in a round, kept from round to round.

After a release nearly every queue of a tree has somebody whom it could help, and few of them get
in: the others are looked at in each round, and after each release. What they need stays the same,
and their place does while the usage does by which it was worked out.

Invariant: a footing that `holds` is what would be worked out anew. So it needs no notice of what is
charged: whoever uses it asks whether it holds.
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
    """One who fits on the tree as it stands, with the borrowing level of each thing it needs."""

    place: Place
    node: Node
    usage: Mapping[FlavorResource, int]
    needs: Needs
    levels: list[int]
    rules: QueueRules
    generation: int
    """Of the tree, when its place was worked out."""
    usages: Needs
    """What was used of all cells that its place depends on."""
    width: int
    """How many cells its queue had."""
    line: object = None
    """The line in which it was found to be let in; None where it was not looked for in one."""

    def holds(self, rules: QueueRules, root: Node) -> bool:
        """Say whether all but that it fits would be found like this again."""
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
    """Return the usage of the cells by which the place of one is worked out who needs these.

    Whether and how far it borrows depends on each needed cell and those above it but the root's;
    its share, which counts just below the root only, on all cells of its queue.
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
