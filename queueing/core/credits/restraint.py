"""Who may not borrow: workloads from a priority upwards stay, together, within nominal quota.

Invariant: an admission never brings what they hold in a ClusterQueue above what is nominal there.
Whatever their queue borrows is then held by others of lower priority, whom preemption takes first.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quantities import quantity
from queueing.core.quota.node import Node

Usage = Mapping[FlavorResource, int]


def _tell_nobody(_queue: QueueName) -> None:
    """Take note of nothing."""


@dataclass(frozen=True, slots=True)
class Restraint:
    """The rule in one ClusterQueue, and what those under it hold there."""

    node: Node
    min_priority: int
    held: dict[FlavorResource, int]
    """By those who were charged as the cycle began."""
    on_take: Callable[[QueueName], None] = _tell_nobody
    """Is told of whom a cycle lets in."""
    _taken: dict[FlavorResource, int] = field(default_factory=dict)
    """By those whom this cycle let in."""

    def concerns(self, priority: int) -> bool:
        """Say whether a workload of this priority may not borrow."""
        return priority >= self.min_priority

    def bars(self, workload: WorkloadFact, usage: Usage) -> str | None:
        """Return why a workload has to wait, None when it stays within nominal quota."""
        if not self.concerns(workload.priority):
            return None
        for key, amount in usage.items():
            held = self.held.get(key, 0) + self._taken.get(key, 0)
            missing = held + amount - self.node.nominal(key)
            if missing > 0:
                return (
                    f"workloads of priority {self.min_priority} and above may not borrow:"
                    f" {quantity(key.resource, missing)} more nominal quota needed for"
                    f" {key.resource} in flavor {key.flavor}"
                )
        return None

    def take(self, workload: WorkloadFact, usage: Usage) -> None:
        """Count a workload that was let in."""
        if self.concerns(workload.priority):
            add(self._taken, usage)
            self.on_take(QueueName(self.node.name))

    def give_back(self, workload: WorkloadFact, usage: Usage) -> None:
        """Count a workload no longer that was let in in vain."""
        if self.concerns(workload.priority):
            add(self._taken, usage, -1)

    def forget_taken(self) -> dict[FlavorResource, int]:
        """Return all that was held as the cycle ended; who was let in is charged by now, or not."""
        whole = dict(self.held)
        add(whole, self._taken)
        self._taken.clear()
        return whole


def add(held: dict[FlavorResource, int], usage: Usage, sign: int = 1) -> None:
    """Add usage to what is held, or with sign -1 take it away."""
    for key, amount in usage.items():
        held[key] = held.get(key, 0) + sign * amount
