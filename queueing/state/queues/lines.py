"""Queues in which all workloads wait on one shelf: two numbers tell whether there is a head.

The two numbers are the free quota of one cell, and the least that anybody on the shelf asks.

Invariant: the queue is active, and objects are as they were when the line was made. Whoever uses a
line asks first whether it `holds`: whether all still wait on that shelf.
"""

from dataclasses import dataclass
from math import inf

from queueing.core.facts import FlavorPolicy
from queueing.core.names import FlavorResource, Uid
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.state.queues.footing import Place
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.pending import PendingQueue
from queueing.state.queues.shelf import Shelf
from queueing.state.queues.stands import PARKED


@dataclass(slots=True, eq=False)
class Line:
    """The only shelf of an active queue, and the cell of which those on it lack something."""

    queue: PendingQueue
    rules: QueueRules
    only: tuple[FlavorResource, Shelf[Peers]]
    shelf: Shelf[Peers]
    node: Node
    cell: Cell
    above: Cell | None
    """The root's cell, where what is used of this one is what is left less for others; or None."""
    most: float
    """How much the queue may use at most, with all that it may borrow."""
    is_open: bool = False
    """Whether all LocalQueues of the queue are known to be let in."""
    best: Place = (0, 0, 0.0, Uid(""))
    """Not after that of anybody who stands there, as long as all is as it was `seen`."""
    seen: tuple[int, int, int] | None = None
    """Usage of the queue, changes of the shelf, and generation of the tree."""

    @property
    def holds(self) -> bool:
        """Whether all who wait still stand on that shelf."""
        return self.queue.shelves.only is self.only and not self.queue.lanes.heaps

    def first(self, available: float) -> Item | None:
        """Return the first who asks for no more than this; None if that one is not parked."""
        found = self.shelf.first(available)
        if found is None or found[1].stand is not PARKED:
            return None
        return found[1].top()


def line_on(queue: PendingQueue, rules: QueueRules, node: Node) -> Line | None:
    """Return the line in which all of an active queue stand; None where they do not."""
    only = queue.shelves.only
    if only is None or queue.lanes.heaps:
        return None
    cell = node.cell(only[0])
    limit = cell.limits.borrowing_limit
    above = cell.parent if _shares_alike(rules, cell) else None
    most = inf if limit is None else cell.quota + limit
    return Line(queue, rules, only, only[1], node, cell, above, most)


def _shares_alike(rules: QueueRules, cell: Cell) -> bool:
    """Say whether all that a queue uses comes from the root, and all that it asks is decided alike.

    Only so its place in a round goes by one amount, and grows with it.
    """
    if cell.parent is None or cell.parent.parent is not None or cell.local:
        return False
    borrows = rules.fact.fungibility.when_can_borrow is not FlavorPolicy.TRY_NEXT_FLAVOR
    return borrows and rules.never_preempts and not rules.fact.checks
