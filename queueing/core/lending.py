"""Lend last: who borrows waits while others may still take their own nominal quota.

A round has one head of each queue. Without this rule a queue's second workload, which is within its
own quota, would come after the first of another that borrows it, and reclaim it at once: work would
be started only to be preempted.
"""

from collections.abc import Iterable

from queueing.core.entries import Entry
from queueing.core.names import FlavorResource, QueueName
from queueing.core.nomination import World
from queueing.core.quota.node import Node


class LendLast:
    """Which entries of a round wait for the others.

    An entry that borrows waits, unless it fits beside all that workloads of other queues which
    compete for their queues' turn may still take of their own nominal quota. Those who wait are
    decided if nobody else of their tree got anything in the round, or gave way to others of its
    queue.
    """

    __slots__ = ("_asked", "_lends_last", "_moved", "_waiting", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._lends_last = world.settings.rules.lends_last
        self._waiting: list[Entry] = []
        self._moved: set[Node] = set()
        """Roots of trees in which somebody got something, or gave way."""
        self._asked: dict[tuple[Node, FlavorResource], dict[Node, int]] = {}
        """What each queue of a tree may still take of its nominal quota, and what all may take, by
        the root; as it was when it was first asked for in the round."""

    def note(self, entry: Entry) -> None:
        """Note that an entry got something, or gave way to others of its queue."""
        self._moved.add(entry.node.root)

    def waits(self, entry: Entry) -> bool:
        """Say whether an entry waits for the others of the round; remember it if it does."""
        if not entry.assignment.borrow or not self._lends_last:
            return False
        node, root = entry.node, entry.node.root
        for resource, amount in entry.usage.items():
            asked = self._asked.get((root, resource))
            if asked is None:
                asked = self._asked[root, resource] = self._asked_of(root, resource)
            others = asked[root] - asked.get(node, 0)
            if amount + others > node.cells[resource].available():
                self._waiting.append(entry)
                return True
        return False

    def left(self) -> Iterable[Entry]:
        """Return the entries that waited in vain, in the order in which they came."""
        return [one for one in self._waiting if one.node.root not in self._moved]

    def _asked_of(self, root: Node, resource: FlavorResource) -> dict[Node, int]:
        found: dict[Node, int] = {}
        pending = self._world.pending
        for queue in root.queues():
            cell = queue.cells.get(resource)
            left = 0 if cell is None else cell.limits.nominal - cell.usage
            if left > 0:
                found[queue] = pending(QueueName(queue.name), resource.resource, left)
        found[root] = sum(found.values())
        return found
