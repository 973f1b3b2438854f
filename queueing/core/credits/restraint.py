"""Who may not borrow: workloads from a priority upwards stay, together, within nominal quota.

Invariant: an admission never brings what they hold in a ClusterQueue above what is nominal there.
Whatever their queue borrows is then held by others of lower priority, whom preemption takes first.
A claim that several of them use counts once. That others use it, too, does not count: it is theirs
alone when those have ended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quantities import quantity
from queueing.core.quota.node import Node
from queueing.core.sharing import Together, Use


def _tell_nobody(_queue: QueueName) -> None:
    """Take note of nothing."""


@dataclass(frozen=True, slots=True)
class Restraint:
    """The rule in one ClusterQueue, and what those under it hold there."""

    node: Node
    min_priority: int
    on_take: Callable[[QueueName], None] = _tell_nobody
    """Is told of whom a cycle lets in."""
    _held: Together = field(default_factory=Together)
    """By those who were charged as the cycle began, and those whom it let in."""
    taken: list[Use] = field(default_factory=list)
    """By those whom this cycle let in."""

    @property
    def held(self) -> Mapping[FlavorResource, int]:
        """What those under the rule hold together."""
        return self._held.total

    def concerns(self, priority: int) -> bool:
        """Say whether a workload of this priority may not borrow."""
        return priority >= self.min_priority

    def bars(self, workload: WorkloadFact, use: Use) -> str | None:
        """Return why a workload has to wait, None when it stays within nominal quota."""
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
        """Count one in who is charged."""
        self._held.add(use)

    def discount(self, use: Use) -> None:
        """Count one out again."""
        self._held.remove(use)

    def take(self, workload: WorkloadFact, use: Use) -> None:
        """Count a workload that was let in."""
        if self.concerns(workload.priority):
            self._held.add(use)
            self.taken.append(use)
            self.on_take(QueueName(self.node.name))

    def give_back(self, workload: WorkloadFact, use: Use) -> None:
        """Count a workload no longer that was let in in vain."""
        if self.concerns(workload.priority):
            self._held.remove(use)
            self.taken.remove(use)

    def forget_taken(self) -> dict[FlavorResource, int]:
        """Return all that was held as the cycle ended; who was let in is charged by now, or not."""
        whole = dict(self.held)
        for use in self.taken:
            self._held.remove(use)
        self.taken.clear()
        return whole
