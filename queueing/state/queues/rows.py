"""Rows: groups of equivalent workloads in the order of their queue (docs/decisions/0031).

A *lane* is a row of those that compete for the queue's turn; a *shelf* is a row of those that wait
until an amount of a flavor-resource can be had. Rows are plain sorted lists: among 10,000 groups
the first that an amount is enough for is found in a third of a millisecond.
"""

from bisect import bisect_left
from collections.abc import Callable
from math import inf
from operator import itemgetter

from queueing.core.names import FlavorResource
from queueing.core.ordering import QueueKey
from queueing.state.queues.peers import Peers

Entry = tuple[QueueKey, Peers]
_place = itemgetter(0)
Bound = Callable[[FlavorResource, int | None], int]
"""Returns how much of a flavor-resource can be had at most with a priority: see `Slot`."""


class Row:
    """Groups and what they wait for, sorted by place: the order of their first item."""

    __slots__ = ("_amounts", "_least", "entries")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._amounts: list[int] = []
        self._least: float | None = inf
        """The smallest amount, None when it is to be looked for."""

    def add(self, place: QueueKey, peers: Peers, amount: int) -> None:
        at = bisect_left(self.entries, place, key=_place)
        self.entries.insert(at, (place, peers))
        self._amounts.insert(at, amount)
        if self._least is not None and amount < self._least:
            self._least = amount

    def discard(self, place: QueueKey, peers: Peers) -> None:
        """Remove a group that is there."""
        at = bisect_left(self.entries, place, key=_place)
        while self.entries[at][1] is not peers:
            at += 1
        del self.entries[at]
        if self._amounts.pop(at) == self._least:
            self._least = None

    def first(self, available: int) -> Entry | None:
        """Return the first group, with its place, that waits for at most an amount."""
        if self._least is None:
            self._least = min(self._amounts)
        if available < self._least:
            return None
        pairs = zip(self.entries, self._amounts, strict=True)
        return next(entry for entry, amount in pairs if amount <= available)
