"""What protects workloads from preemption by shares under a CreditPolicy: hysteresis and time."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from queueing.core.fair_sharing.shares import Share
from queueing.core.holders import Holder
from queueing.core.quota.node import QuotaNode


@dataclass(frozen=True, slots=True)
class Patience:
    """How many times larger a victim's share must be, and since when it must have held quota.

    The factor applies only between two nodes of which credits bend at least one weight.
    """

    hysteresis: Fraction = Fraction(1)
    settled_by: float = inf
    """A workload that reserved quota after this time must not be preempted by shares."""

    def demanded(self, share: Share, mine: QuotaNode, theirs: QuotaNode) -> Share:
        """Return the preemptor's share times the hysteresis, to be compared with the victim's."""
        if self.hysteresis == 1 or (mine.bend is None and theirs.bend is None):
            return share
        return share[0], share[1] * self.hysteresis

    def protects(self, holder: Holder) -> bool:
        """Say whether a workload has not held quota long enough to be a victim."""
        return holder.reserved_at > self.settled_by


NO_PATIENCE = Patience()
Patiences = Mapping[QuotaNode, Patience]
"""Root of a tree → its patience; a tree that is not included has none."""
