"""What a child is about to pay for work that began lately: held against its balance until then.

Without it a surplus buys more than it is worth: who comes with much work at once begins all of it
before anything is paid. A hold shrinks as fast as the real charge grows, and ends with the work.

Invariant: it depends on who is counted, on what their child pays and on the time, on nothing else;
so it is the same after a restart.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from queueing.core.credits.facts import Member
from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorName, Uid

Life = tuple[Uid, int]
"""A workload, and since when it holds what it holds."""


class Hold(NamedTuple):
    """What one workload pays, if all of it is borrowed, until its charge has overtaken the hold."""

    until: int
    rates: Sequence[tuple[FlavorName, int]]
    """Micro-credits per second."""


class Holds:
    """The holds of one cohort's children, each for so many seconds from its admission."""

    __slots__ = ("_by_child", "length_s")

    def __init__(self, length_s: int) -> None:
        self.length_s = length_s
        self._by_child: dict[Member, dict[Life, Hold]] = {}

    def begin(
        self, child: Member, holding: Holding, rates: Sequence[tuple[FlavorName, int]]
    ) -> None:
        """Hold for a workload: as long as it may last, if that is less."""
        until = holding.began + self.length_s
        if holding.may_last is not None:
            until = min(until, holding.since + holding.may_last)
        mine = self._by_child.setdefault(child, {})
        mine[holding.uid, holding.since] = Hold(until, rates)

    def end(self, child: Member, holding: Holding) -> None:
        """Release what is held for a workload, if anything still is."""
        self._by_child.get(child, {}).pop((holding.uid, holding.since), None)

    def clear(self) -> None:
        """Release all."""
        self._by_child.clear()

    def of(self, child: Member, at: int, paying: Mapping[FlavorName, int]) -> int:
        """Return what a child is about to pay, in micro-credits.

        `paying` is what it pays now, in each flavor: no more than that is held, and the youngest
        are taken to be those who borrow. What is within its quota costs nothing, now or then.
        """
        mine = self._by_child.get(child)
        if not mine:
            return 0
        for life in [life for life, one in mine.items() if one.until <= at]:
            del mine[life]
        left, held = dict(paying), 0
        for one in sorted(mine.values(), key=_until, reverse=True):
            for flavor, rate in one.rates:
                borrowed = min(rate, left.get(flavor, 0))
                if borrowed:
                    left[flavor] -= borrowed
                    held += borrowed * (one.until - at)
        return held


def _until(hold: Hold) -> int:
    return hold.until
