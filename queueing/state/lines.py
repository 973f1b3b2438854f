"""Queues in which all workloads wait on one shelf: two numbers tell whether there is a head.

The two numbers are the free quota of one cell, and the least that anybody on the shelf asks.

Invariant: the queue is active, and objects are as they were when the line was made. Whoever uses a
line asks first whether it `holds`: whether all still wait on that shelf.
"""

from dataclasses import dataclass

from queueing.core.names import FlavorResource
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.cell import Cell
from queueing.state.peers import Item, Peers
from queueing.state.pending import PendingQueue
from queueing.state.shelf import Shelf
from queueing.state.stands import PARKED


@dataclass(slots=True, eq=False)
class Line:
    """The only shelf of an active queue, and the cell of which those on it lack something."""

    queue: PendingQueue
    rules: QueueRules
    only: tuple[FlavorResource, Shelf[Peers]]
    shelf: Shelf[Peers]
    cell: Cell

    @property
    def holds(self) -> bool:
        """Whether all who wait still stand on that shelf."""
        return self.queue.shelves.only is self.only and not self.queue.lanes.heaps

    def first(self, available: int) -> Item | None:
        """Return the first who asks for no more than this; None if that one is not parked."""
        found = self.shelf.first(available)
        if found is None or found[1].stand is not PARKED:
            return None
        return found[1].top()
