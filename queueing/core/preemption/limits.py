"""The limit of victims below a queue or cohort that may be leaving at the same time.

It spreads a storm of preemptions over time: a preemptor with a victim too many waits, and its queue
with it. The victims of one preemptor are never divided, so one with more victims than the limit is
allowed when no other victim is leaving.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.core.quota.node import QuotaNode


@dataclass(frozen=True, slots=True)
class Bound:
    """The limit of a queue or cohort, and how many victims below it are leaving already."""

    most: int
    leaving: int


Bounds = Mapping[QuotaNode, Bound]
"""The nodes that have a limit."""


@dataclass(slots=True)
class Departures:
    """Counts, for the length of a round, the victims below each node that has a limit."""

    bounds: Bounds
    _issued: dict[QuotaNode, int] = field(default_factory=dict)
    _closed: set[QuotaNode] = field(default_factory=set)

    def allow(self, queues: Iterable[QuotaNode]) -> bool:
        """Say whether a victim of each of these queues may leave, all of them together.

        If not, no victim below the nodes concerned may leave for the rest of the round. Otherwise
        later preemptors with fewer victims would keep this one waiting for ever.
        """
        counts = self._below(queues)
        fits = all(self._has_room(node, count) for node, count in counts.items())
        if not fits:
            self._closed.update(counts)
        return fits

    def note(self, queues: Iterable[QuotaNode]) -> None:
        """Count one victim of each of these queues as leaving."""
        for node, count in self._below(queues).items():
            self._issued[node] = self._issued.get(node, 0) + count

    def _has_room(self, node: QuotaNode, count: int) -> bool:
        bound = self.bounds[node]
        leaving = bound.leaving + self._issued.get(node, 0)
        return node not in self._closed and (not leaving or leaving + count <= bound.most)

    def _below(self, queues: Iterable[QuotaNode]) -> dict[QuotaNode, int]:
        counts: dict[QuotaNode, int] = {}
        if not self.bounds:
            return counts
        for queue in queues:
            for node in (queue, *queue.ancestors()):
                if node in self.bounds:
                    counts[node] = counts.get(node, 0) + 1
        return counts
