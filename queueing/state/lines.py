"""Queues in which all who wait stand on one shelf: who of them is the head is found by two numbers.

Invariant: a line is of an active queue, and objects are as they were when it was found; whoever
asks a queue looks whether all still stand on that shelf.
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
    """The only shelf of an active queue, and of what those who stand there lack something."""

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
        """Return the first who asks for no more than this, None where it keeps others off."""
        found = self.shelf.first(available)
        if found is None or found[1].stand is not PARKED:
            return None
        return found[1].top()
