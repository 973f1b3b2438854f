"""Queues whose pending workloads are all on one shelf: two numbers tell whether there is a head.

The two numbers are the free quota of one cell, and the smallest request on the shelf.

Invariant: the queue is active, and objects are as they were when the line was made (`Memory.lines`
is emptied when they change). Before using a line, check that it `holds`.
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
    """The only shelf of an active ClusterQueue, and the cell whose quota its workloads lack."""

    queue: PendingQueue
    rules: QueueRules
    only: tuple[FlavorResource, Shelf[Peers]]
    shelf: Shelf[Peers]
    node: Node
    cell: Cell
    above: Cell | None
    """The root's cell, if the queue may take part in a `contest`; else None."""
    most: float
    """The quota of the queue plus its borrowing limit; infinite without a limit."""
    is_open: bool = False
    """Whether all LocalQueues of the queue are known to be open (see `cycle.openness`)."""
    best: Place = (0, 0, 0.0, Uid(""))
    """A place in the round that no workload of the line comes before, valid for `seen`."""
    seen: tuple[int, int, int] | None = None
    """For which usage of the queue, number of shelf changes, and tree generation `best` is valid.
    """

    @property
    def holds(self) -> bool:
        """Whether all pending workloads of the queue are still on that shelf."""
        return self.queue.shelves.only is self.only and not self.queue.lanes.heaps

    def first(self, available: float) -> Item | None:
        """Return the first workload that requests at most `available`; None if it is not PARKED."""
        found = self.shelf.first(available)
        if found is None or found[1].stand is not PARKED:
            return None
        return found[1].top()


def line_on(queue: PendingQueue, rules: QueueRules, node: Node) -> Line | None:
    """Return the line of an active queue; None if not all its workloads are on one shelf."""
    only = queue.shelves.only
    if only is None or queue.lanes.heaps:
        return None
    cell = node.cell(only[0])
    limit = cell.limits.borrowing_limit
    above = cell.parent if _shares_alike(rules, cell) else None
    most = inf if limit is None else cell.quota + limit
    return Line(queue, rules, only, only[1], node, cell, above, most)


def _shares_alike(rules: QueueRules, cell: Cell) -> bool:
    """Say whether a queue can take part in a `contest`.

    Its parent must be the root, it must lend all of its quota, and its workloads must be plain:
    they never preempt, have no admission checks, and may borrow without trying another flavor.
    """
    if cell.parent is None or cell.parent.parent is not None or cell.local:
        return False
    borrows = rules.fact.fungibility.when_can_borrow is not FlavorPolicy.TRY_NEXT_FLAVOR
    return borrows and rules.never_preempts and not rules.fact.checks
