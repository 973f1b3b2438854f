"""Who may not borrow: workloads from a priority upwards stay, together, within nominal quota.

Invariant: an admission never brings what they hold in a ClusterQueue above what is nominal there.
Whatever their queue borrows is then held by others of lower priority, whom preemption takes first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource
from queueing.core.quantities import quantity
from queueing.core.quota.node import Node


@dataclass(frozen=True, slots=True)
class Restraint:
    """The rule in one ClusterQueue, and what those under it hold there."""

    node: Node
    min_priority: int
    held: dict[FlavorResource, int]

    def concerns(self, priority: int) -> bool:
        """Say whether a workload of this priority may not borrow."""
        return priority >= self.min_priority

    def bars(self, workload: WorkloadFact, usage: Mapping[FlavorResource, int]) -> str | None:
        """Return why a workload has to wait, None when it stays within nominal quota."""
        if not self.concerns(workload.priority):
            return None
        for key, amount in usage.items():
            missing = self.held.get(key, 0) + amount - self.node.nominal(key)
            if missing > 0:
                return (
                    f"workloads of priority {self.min_priority} and above may not borrow:"
                    f" {quantity(key.resource, missing)} more nominal quota needed for"
                    f" {key.resource} in flavor {key.flavor}"
                )
        return None

    def take(self, workload: WorkloadFact, usage: Mapping[FlavorResource, int]) -> None:
        """Count a workload that was let in."""
        if self.concerns(workload.priority):
            add(self.held, usage)


def add(held: dict[FlavorResource, int], usage: Mapping[FlavorResource, int]) -> None:
    """Add usage to what is held."""
    for key, amount in usage.items():
        held[key] = held.get(key, 0) + amount
