"""Shelves: peers that wait for an amount, in the order of their queue (docs/decisions/0031).

A shelf finds the first peers whose amount is free without looking at the others. The code is
generic: what stands on a shelf is called a waiter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from math import inf
from typing import Generic, NamedTuple, TypeVar

from queueing.core.names import FlavorResource, Key
from queueing.core.ordering import QueueKey

Waiter = TypeVar("Waiter")
SIZE = 64
"""Entries per block, once there is more than one; a block is split at twice as many."""


class Slot(NamedTuple):
    """What identifies a shelf of a queue."""

    local_queue: Key | None
    """None unless LocalQueues take turns."""
    resource: FlavorResource
    priority: int | None
    """None if only free quota counts; else the priority of waiters that may preempt, for which also
    what their possible victims hold counts."""


Bound = Callable[[FlavorResource, int | None], int]
"""Returns how much of a flavor-resource can be had at most with a priority: see `Slot`."""


class _Block(Generic[Waiter]):
    """Neighbours on a shelf, sorted by place, stored as three parallel lists.

    Searches need one of the lists only, and no object per entry is needed.
    """

    __slots__ = ("amounts", "places", "waiters")

    def __init__(self, places: list[QueueKey], amounts: list[int], waiters: list[Waiter]) -> None:
        self.places = places
        self.amounts = amounts
        self.waiters = waiters

    def add(self, place: QueueKey, asked: int, waiter: Waiter) -> None:
        index = bisect_left(self.places, place)
        self.places.insert(index, place)
        self.amounts.insert(index, asked)
        self.waiters.insert(index, waiter)

    def cut(self, index: int) -> _Block[Waiter]:
        """Keep the entries before an index, and return a block of the others."""
        rest = _Block(self.places[index:], self.amounts[index:], self.waiters[index:])
        del self.places[index:], self.amounts[index:], self.waiters[index:]
        return rest


class Shelf(Generic[Waiter]):
    """Entries of (place in the queue, amount, waiter), sorted by place, in blocks.

    `first` returns the first waiter whose amount is small enough. Only an entry with a smaller
    amount than all entries before it can be the answer. Such entries are called *steps*; they are
    found as far as needed, and remembered until the shelf changes. Each block knows its least
    amount, so that the search for steps can skip it.

    Invariant: places are unique, and no block is empty.
    """

    __slots__ = (
        "_asked",
        "_blocks",
        "_ends",
        "_leasts",
        "_seen",
        "_steps",
        "changes",
        "least",
        "slot",
    )

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self._blocks: list[_Block[Waiter]] = []
        self._ends: list[QueueKey] = []
        self._leasts: list[int] = []
        self.least: float = inf
        """The smallest amount on the shelf; infinite while it is empty."""
        self._steps: list[tuple[QueueKey, Waiter]] = []
        self._asked: list[int] = []
        """The amounts of the steps, negated, so that they ascend."""
        self._seen = 0, 0
        """Block and entry at which the search for more steps begins."""
        self.changes = 0
        """How often an entry was added or removed."""

    def __len__(self) -> int:
        return sum(len(one.places) for one in self._blocks)

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def front(self) -> QueueKey:
        """The place of the first waiter; the shelf must not be empty."""
        return self._blocks[0].places[0]

    def add(self, place: QueueKey, asked: int, waiter: Waiter) -> None:
        """Add a waiter at a place at which there is none."""
        self._forget_steps()
        self.least = min(self.least, asked)
        if not self._blocks:
            self._blocks = [_Block([place], [asked], [waiter])]
            self._ends, self._leasts = [place], [asked]
            return
        at = min(bisect_left(self._ends, place), len(self._ends) - 1)
        block = self._blocks[at]
        block.add(place, asked, waiter)
        if len(block.places) > 2 * SIZE:
            self._blocks.insert(at + 1, block.cut(SIZE))
            self._ends.insert(at, place)
            self._leasts.insert(at, asked)
            self._measure(at)
            self._measure(at + 1)
            return
        self._ends[at] = block.places[-1]
        self._leasts[at] = min(self._leasts[at], asked)

    def discard(self, place: QueueKey) -> None:
        """Remove the waiter at a place, if there is one."""
        at = bisect_left(self._ends, place)
        if at == len(self._ends):
            return
        block = self._blocks[at]
        places = block.places
        index = bisect_left(places, place)
        if places[index] != place:
            return
        self._forget_steps()
        del places[index], block.waiters[index]
        asked = block.amounts.pop(index)
        if not places:
            del self._blocks[at], self._ends[at], self._leasts[at]
        elif asked == self._leasts[at] or index == len(places):
            self._measure(at)
        if asked == self.least:
            self.least = min(self._leasts, default=inf)

    def first(self, available: float) -> tuple[QueueKey, Waiter] | None:
        """Return the first waiter, with its place, whose amount is at most `available`."""
        if available < self.least:
            return None
        at = bisect_left(self._asked, -available)
        if at < len(self._steps):
            return self._steps[at]
        self._look_on(available)
        return self._steps[-1]

    def _look_on(self, available: float) -> None:
        """Find more steps, up to the first whose amount is at most `available`."""
        number, index = self._seen
        asked = -self._asked[-1] if self._asked else inf
        for at in range(number, len(self._blocks)):
            if self._leasts[at] < asked:
                block = self._blocks[at]
                amounts = block.amounts
                for entry in range(index, len(amounts)):
                    amount = amounts[entry]
                    if amount < asked:
                        asked = amount
                        self._steps.append((block.places[entry], block.waiters[entry]))
                        self._asked.append(-amount)
                        if amount <= available:
                            self._seen = at, entry + 1
                            return
            index = 0

    def _forget_steps(self) -> None:
        self.changes += 1
        self._steps.clear()
        self._asked.clear()
        self._seen = 0, 0

    def _measure(self, at: int) -> None:
        block = self._blocks[at]
        self._ends[at] = block.places[-1]
        self._leasts[at] = min(block.amounts)


class Filing(NamedTuple, Generic[Waiter]):
    """The shelves of a waiter, with its amount on each, and its place, the same on all."""

    asked: tuple[tuple[Shelf[Waiter], int], ...]
    place: QueueKey


class Shelves(Generic[Waiter]):
    """The shelves of one queue.

    Invariant: a waiter is on all shelves of its filing, at its place, and on no other.
    """

    __slots__ = ("_filings", "_shelves", "only")

    def __init__(self) -> None:
        self._filings: dict[Waiter, Filing[Waiter]] = {}
        self._shelves: dict[Slot, Shelf[Waiter]] = {}
        self.only: tuple[FlavorResource, Shelf[Waiter]] | None = None
        """The shelf, if there is just one, and only free quota counts on it; else None."""

    def __len__(self) -> int:
        return len(self._shelves)

    def __bool__(self) -> bool:
        return bool(self._shelves)

    def entries(self) -> int:
        """Return how many entries there are, for the invariants."""
        return sum(map(len, self._shelves.values()))

    def filing(self, waiter: Waiter) -> Filing[Waiter] | None:
        """Return where a waiter was put, which may be on no shelf at all; None if it was not."""
        return self._filings.get(waiter)

    def put(self, waiter: Waiter, asked: Iterable[tuple[Slot, int]], place: QueueKey) -> None:
        """Put a waiter that is on no shelf on the shelves of these slots.

        If a slot occurs more than once, its smallest amount counts.
        """
        wanted: dict[Slot, int] = {}
        for slot, amount in asked:
            wanted[slot] = min(amount, wanted.get(slot, amount))
        asks = []
        for slot, amount in wanted.items():
            shelf = self._shelf(slot)
            shelf.add(place, amount, waiter)
            asks.append((shelf, amount))
        self._filings[waiter] = Filing(tuple(asks), place)

    def take(self, waiter: Waiter) -> bool:
        """Remove a waiter from its shelves; say whether it had been put on any."""
        filing = self._filings.pop(waiter, None)
        if filing is None:
            return False
        for shelf, _ in filing.asked:
            shelf.discard(filing.place)
            if not shelf:
                del self._shelves[shelf.slot]
                self._look_for_only()
        return True

    def first(
        self, bound: Bound, usage_of: Callable[[Key | None], float] | None
    ) -> tuple[float, QueueKey, Waiter] | None:
        """Return the first waiter for which there is enough, by `bound`, after its place.

        The place begins with the usage of the waiter's LocalQueue; 0 if these take no turns.
        """
        best: tuple[float, QueueKey, Waiter] | None = None
        for slot, shelf in self._shelves.items():
            found = shelf.first(bound(slot.resource, slot.priority))
            if found is not None:
                usage = 0.0 if usage_of is None else usage_of(slot.local_queue)
                if best is None or (usage, found[0]) < best[:2]:
                    best = usage, *found
        return best

    def _shelf(self, slot: Slot) -> Shelf[Waiter]:
        """Return the shelf of a slot. A new one is empty: the caller adds a waiter at once."""
        found = self._shelves.get(slot)
        if found is None:
            found = self._shelves[slot] = Shelf(slot)
            self._look_for_only()
        return found

    def _look_for_only(self) -> None:
        self.only = None
        if len(self._shelves) == 1:
            ((slot, shelf),) = self._shelves.items()
            if slot.priority is None:
                self.only = slot.resource, shelf
