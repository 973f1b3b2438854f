"""What priority classes make of what a child pays for the quota that it borrows.

Nobody can tell which of a child's workloads it is that borrow. So the child pays by the mean factor
of all that it runs in a flavor, each workload weighted by what it costs.
"""

from dataclasses import dataclass
from fractions import Fraction

FACTOR_UNIT = 1000
"""Parts of one in which the factors of priority classes are counted."""


@dataclass(slots=True)
class ClassMix:
    """All that one child runs in one flavor; costs in micro-credits per second."""

    cost: int = 0
    weighted: int = 0
    """The sum over workloads of cost times factor, in parts of `FACTOR_UNIT`."""

    def add(self, cost: int, factor: Fraction, sign: int) -> None:
        """Count a workload in, or with sign -1 out."""
        self.cost += sign * cost
        self.weighted += sign * int(cost * factor * FACTOR_UNIT)

    def paying(self, borrowed: int) -> int:
        """Return what is paid for so much that is borrowed; all of it where nothing is counted."""
        if self.cost <= 0:
            return borrowed
        return borrowed * self.weighted // (self.cost * FACTOR_UNIT)
