"""What keeps preemption by shares from going to and fro."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from queueing.core.fair_sharing.shares import Share
from queueing.core.holders import Holder
from queueing.core.quota.node import Node


@dataclass(frozen=True, slots=True)
class Patience:
    """How much larger a victim's share must be, and how long it runs undisturbed.

    The factor counts only between two nodes of which credits bend at least one weight.
    """

    hysteresis: Fraction = Fraction(1)
    settled_by: float = inf
    """Who got its quota after this time is no victim for the sake of shares."""

    def demanded(self, share: Share, mine: Node, theirs: Node) -> Share:
        """Return the share that the victim's is compared with, given the preemptor's."""
        if self.hysteresis == 1 or (mine.bend is None and theirs.bend is None):
            return share
        return share[0], share[1] * self.hysteresis

    def protects(self, holder: Holder) -> bool:
        """Say whether a workload has not run long enough to be a victim."""
        return holder.reserved_at > self.settled_by


NO_PATIENCE = Patience()
Patiences = Mapping[Node, Patience]
"""By root; a tree that is not named has none."""
