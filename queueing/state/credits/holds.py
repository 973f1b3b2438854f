"""Holds: what a child of a cohort is about to pay for recent work, held against its balance.

(`admissionHold` of a CreditPolicy.) Without holds a surplus buys more than it is worth: a child
that submits much work at once starts all of it before anything is paid. A hold shrinks as fast as
the real charge grows, and ends with the work.

Invariant: holds depend only on the holdings that are counted, on what their child pays now, and on
the time. So they are the same after a restart.
"""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.credits.facts import CreditPolicyFact, Member
from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorName, Uid


class Hold(NamedTuple):
    """What one workload pays until a time, if all that it holds is borrowed."""

    until: int
    rates: Mapping[FlavorName, int]
    """Micro-credits per second."""


class Holds:
    """The holds of one cohort's children; each ends `admission_hold_s` after the admission."""

    __slots__ = ("_by_child", "_policy")

    def __init__(self, policy: CreditPolicyFact) -> None:
        self._policy = policy
        self._by_child: dict[Member, dict[tuple[Uid, int], Hold]] = {}

    def begin(self, child: Member, holding: Holding) -> None:
        """Begin the hold of a workload, which ends with its maximum execution time at latest."""
        policy = self._policy
        until = holding.began + policy.admission_hold_s
        if holding.may_last is not None:
            until = min(until, holding.since + holding.may_last)
        factor, costs = policy.factor(holding.priority), policy.prices.by_flavor(holding.usage)
        rates = {flavor: int(cost * factor) for flavor, cost in costs.items()}
        self._by_child.setdefault(child, {})[holding.life] = Hold(until, rates)

    def end(self, child: Member, holding: Holding) -> None:
        """End the hold of a workload, if it has one."""
        self._by_child.get(child, {}).pop(holding.life, None)

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
        for one in sorted(mine.values(), key=lambda hold: hold.until, reverse=True):
            for flavor, rate in one.rates.items():
                borrowed = min(rate, left.get(flavor, 0))
                if borrowed:
                    left[flavor] -= borrowed
                    held += borrowed * (one.until - at)
        return held
