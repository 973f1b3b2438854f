"""Waiters in the order of their queue, found by the first whose amount is covered."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Generic, TypeVar

from queueing.core.ordering import QueueKey

Waiter = TypeVar("Waiter")
SIZE = 64
"""Entries per block, once there is more than one; a block is split at twice as many."""


class Shelf(Generic[Waiter]):
    """Entries of (place in the queue, amount asked, waiter), sorted by place, in blocks.

    Each block knows its least amount, so that `first` passes over those in which nobody is covered.
    Invariant: places are unique, and no block is empty.
    """

    __slots__ = ("_blocks", "_ends", "_leasts")

    def __init__(self) -> None:
        self._blocks: list[list[tuple[QueueKey, int, Waiter]]] = []
        self._ends: list[QueueKey] = []
        self._leasts: list[int] = []

    def __len__(self) -> int:
        return sum(map(len, self._blocks))

    def add(self, place: QueueKey, asked: int, waiter: Waiter) -> None:
        """Put a waiter at a place that is free."""
        if not self._blocks:
            self._blocks, self._ends, self._leasts = [[(place, asked, waiter)]], [place], [asked]
            return
        at = min(bisect_left(self._ends, place), len(self._ends) - 1)
        block = self._blocks[at]
        insort(block, (place, asked, waiter))
        if len(block) > 2 * SIZE:
            self._blocks[at : at + 1] = [block[:SIZE], block[SIZE:]]
            self._ends.insert(at, place)
            self._leasts.insert(at, asked)
            self._measure(at)
            self._measure(at + 1)
            return
        self._ends[at] = block[-1][0]
        self._leasts[at] = min(self._leasts[at], asked)

    def discard(self, place: QueueKey) -> None:
        """Take out whoever is at a place."""
        at = bisect_left(self._ends, place)
        if at == len(self._ends):
            return
        block = self._blocks[at]
        index = _index(block, place)
        if block[index][0] != place:
            return
        _, asked, _ = block.pop(index)
        if not block:
            del self._blocks[at], self._ends[at], self._leasts[at]
        elif asked == self._leasts[at] or index == len(block):
            self._measure(at)

    def first(self, available: int) -> tuple[QueueKey, Waiter] | None:
        """Return the first waiter who asks for no more than `available`."""
        for at, least in enumerate(self._leasts):
            if least <= available:
                for place, asked, waiter in self._blocks[at]:
                    if asked <= available:
                        return place, waiter
        return None

    def _measure(self, at: int) -> None:
        block = self._blocks[at]
        self._ends[at] = block[-1][0]
        self._leasts[at] = min(asked for _, asked, _ in block)


def _index(block: list[tuple[QueueKey, int, Waiter]], place: QueueKey) -> int:
    """Return where a place is, or would be; not beyond the end, which is at or after it."""
    low, high = 0, len(block) - 1
    while low < high:
        middle = (low + high) // 2
        if block[middle][0] < place:
            low = middle + 1
        else:
            high = middle
    return low
