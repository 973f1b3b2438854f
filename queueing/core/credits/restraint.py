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
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.core.sharing import Use, added


@dataclass(slots=True, eq=False)
class Uses:
    """The sum of several uses: of what is their own, and of the largest part of each claim."""

    total: dict[FlavorResource, int] = field(default_factory=dict)
    _claims: dict[tuple[str, FlavorResource], list[int]] = field(default_factory=dict)

    def add(self, use: Use) -> None:
        """Add a use."""
        for resource, amount in self.added_by(use).items():
            self.total[resource] = self.total.get(resource, 0) + amount
        for one in use.parts:
            self._claims.setdefault((one.claim, one.resource), []).append(one.amount)

    def remove(self, use: Use) -> None:
        """Remove a use that was added."""
        for one in use.parts:
            users = self._claims[one.claim, one.resource]
            users.remove(one.amount)
            if not users:
                del self._claims[one.claim, one.resource]
        for resource, amount in self.added_by(use).items():
            self.total[resource] -= amount

    def added_by(self, use: Use) -> dict[FlavorResource, int]:
        """Return by how much adding a use would raise the sum."""
        known = self._claims
        more = (
            one._replace(
                amount=max(0, one.amount - max(known.get((one.claim, one.resource), (0,))))
            )
            for one in use.parts
        )
        return added(use.own, tuple(more))


@dataclass(slots=True)
class Restraint:
    """The rule in one ClusterQueue, and what the workloads that it concerns hold there."""

    node: QuotaNode
    min_priority: int
    _held: Uses = field(default_factory=Uses)
    """What is held by workloads that are charged, and by those that the present round admitted."""
    _taken: dict[Key, Use] = field(default_factory=dict)
    """What the latter are to hold, until they are charged."""

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

    def take(self, workload: WorkloadFact, use: Use) -> None:
        """Add a workload that a round admits, if the rule concerns it."""
        if self.concerns(workload.priority):
            self._held.add(use)
            self._taken[workload.key] = use

    def charge(self, holder: Holder, sign: int) -> None:
        """Add what a charged workload holds, if the rule concerns it; with sign -1 remove it."""
        if not self.concerns(holder.priority):
            return
        if sign > 0:
            taken = self._taken.pop(holder.key, None)
            if taken is not None:
                self._held.remove(taken)
            self._held.add(holder.use)
        else:
            self._held.remove(holder.use)
