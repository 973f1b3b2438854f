"""The factors of priority classes in what a child pays for borrowed quota (`classFactors`).

It is undefined which of a child's workloads use its own quota and which borrow. So the child pays
by the mean factor of all its workloads in a flavor, each weighted by its cost.
"""

from dataclasses import dataclass
from fractions import Fraction

FACTOR_UNIT = 1000
"""Parts of one in which the factors of priority classes are counted."""


@dataclass(slots=True)
class ClassMix:
    """The workloads of one child in one flavor; costs in micro-credits per second."""

    cost: int = 0
    weighted: int = 0
    """The sum over workloads of cost times factor, in parts of `FACTOR_UNIT`."""

    def add(self, cost: int, factor: Fraction, sign: int) -> None:
        """Add a workload, or with sign -1 remove it."""
        self.cost += sign * cost
        self.weighted += sign * int(cost * factor * FACTOR_UNIT)

    def paying(self, borrowed: int) -> int:
        """Return what is paid for `borrowed`: the same if no workload is counted."""
        if self.cost <= 0:
            return borrowed
        return borrowed * self.weighted // (self.cost * FACTOR_UNIT)
