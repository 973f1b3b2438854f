"""Holds: what a child of a cohort is about to pay for recent work, held against its balance.

(`admissionHold` of a CreditPolicy.) Without holds a surplus buys more than it is worth: a child
that submits much work at once starts all of it before anything is paid. A hold shrinks as fast as
the real charge grows, and ends with the work.

Invariant: holds depend only on the holdings that are counted, on what their child pays now, and on
the time. So they are the same after a restart.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from queueing.core.credits.facts import Member
from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorName, Uid

Life = tuple[Uid, int]
"""A holding: the uid of its workload, and since when it holds its quota."""


class Hold(NamedTuple):
    """What one workload pays until a time, if all that it holds is borrowed."""

    until: int
    rates: Sequence[tuple[FlavorName, int]]
    """Micro-credits per second."""


class Holds:
    """The holds of one cohort's children; each ends `length_s` seconds after the admission."""

    __slots__ = ("_by_child", "length_s")

    def __init__(self, length_s: int) -> None:
        self.length_s = length_s
        self._by_child: dict[Member, dict[Life, Hold]] = {}

    def begin(
        self, child: Member, holding: Holding, rates: Sequence[tuple[FlavorName, int]]
    ) -> None:
        """Begin the hold of a workload, which ends with its maximum execution time at latest."""
        until = holding.began + self.length_s
        if holding.may_last is not None:
            until = min(until, holding.since + holding.may_last)
        mine = self._by_child.setdefault(child, {})
        mine[holding.uid, holding.since] = Hold(until, rates)

    def end(self, child: Member, holding: Holding) -> None:
        """End the hold of a workload, if it has one."""
        self._by_child.get(child, {}).pop((holding.uid, holding.since), None)

    def clear(self) -> None:
        """End all holds."""
        self._by_child.clear()

    def of(self, child: Member, at: int, paying: Mapping[FlavorName, int]) -> int:
        """Return what is held against a child's balance at a time, in micro-credits.

        `paying` is what it pays now in each flavor, in micro-credits per second: the sum of its
        holds never exceeds that rate. The youngest workloads are taken to be those that borrow.
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
