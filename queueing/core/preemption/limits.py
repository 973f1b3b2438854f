"""How many workloads of a subtree may be on their way out at once.

A storm of preemptions is spread: who would be one too many waits, and its queue with it. One
preemption is never divided, so that one with more victims than the limit has its turn alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.core.quota.node import Node


@dataclass(frozen=True, slots=True)
class Bound:
    """The limit of a queue or cohort, and how many below it are leaving already."""

    most: int
    leaving: int


Bounds = Mapping[Node, Bound]
"""Only nodes that have a limit."""


class Departures:
    """Counts, for the length of a round, who leaves from under each node that has a limit."""

    __slots__ = ("_bounds", "_closed", "_issued")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._issued: dict[Node, int] = {}
        self._closed: set[Node] = set()

    def allow(self, queues: Iterable[Node]) -> bool:
        """Say whether one more workload may leave each of these queues, all of them at once.

        If not, nobody else may for the rest of the round: smaller ones that come later would else
        keep a larger one waiting for ever.
        """
        counts = self._below(queues)
        fits = all(self._has_room(node, count) for node, count in counts.items())
        if not fits:
            self._closed.update(counts)
        return fits

    def note(self, queues: Iterable[Node]) -> None:
        """Count one more that leaves each of these queues."""
        for node, count in self._below(queues).items():
            self._issued[node] = self._issued.get(node, 0) + count

    def _has_room(self, node: Node, count: int) -> bool:
        bound = self._bounds[node]
        leaving = bound.leaving + self._issued.get(node, 0)
        return node not in self._closed and (not leaving or leaving + count <= bound.most)

    def _below(self, queues: Iterable[Node]) -> dict[Node, int]:
        counts: dict[Node, int] = {}
        if not self._bounds:
            return counts
        for queue in queues:
            for node in (queue, *queue.ancestors()):
                if node in self._bounds:
                    counts[node] = counts.get(node, 0) + 1
        return counts
