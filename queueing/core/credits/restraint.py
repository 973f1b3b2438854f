"""Workloads that may not borrow: from a priority upwards they stay, together, in nominal quota.

It is the rule `nonBorrowingMinPriority` of a CreditPolicy, though it needs no ledger
(docs/decisions/0017). Invariant: no admission brings what these workloads hold in a ClusterQueue
above its nominal quota. So what the queue borrows is held by workloads of lower priority, which are
preempted first. A ResourceClaim that several of them use counts once; other users of it do not
lower that, since they may end first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource
from queueing.core.quantities import quantity
from queueing.core.quota.node import Node
from queueing.core.sharing import Together, Use


@dataclass(frozen=True, slots=True)
class Restraint:
    """The rule in one ClusterQueue, and what the workloads that it concerns hold there."""

    node: Node
    min_priority: int
    _held: Together = field(default_factory=Together)
    """What is held by workloads charged before the cycle, and by those that it admitted."""
    taken: list[Use] = field(default_factory=list)
    """What this cycle admitted."""

    @property
    def held(self) -> Mapping[FlavorResource, int]:
        """What the workloads that may not borrow hold together."""
        return self._held.total

    def concerns(self, priority: int) -> bool:
        """Say whether a workload of this priority may not borrow."""
        return priority >= self.min_priority

    def bars(self, workload: WorkloadFact, use: Use) -> str | None:
        """Return why the rule makes a workload wait; None if it stays within nominal quota."""
        if not self.concerns(workload.priority):
            return None
        for key, amount in self._held.added_by(use).items():
            missing = self.held.get(key, 0) + amount - self.node.nominal(key)
            if amount and missing > 0:
                return (
                    f"workloads of priority {self.min_priority} and above may not borrow:"
                    f" {quantity(key.resource, missing)} more nominal quota needed for"
                    f" {key.resource} in flavor {key.flavor}"
                )
        return None

    def count(self, use: Use) -> None:
        """Add the use of a charged workload."""
        self._held.add(use)

    def discount(self, use: Use) -> None:
        """Remove a use that was counted."""
        self._held.remove(use)

    def take(self, workload: WorkloadFact, use: Use) -> None:
        """Add a workload that the cycle admits, if the rule concerns it."""
        if self.concerns(workload.priority):
            self._held.add(use)
            self.taken.append(use)

    def forget_taken(self) -> dict[FlavorResource, int]:
        """Remove what the last cycle admitted, which is counted by its charges now.

        Returns all that was held before the removal.
        """
        whole = dict(self.held)
        for use in self.taken:
            self._held.remove(use)
        self.taken.clear()
        return whole
