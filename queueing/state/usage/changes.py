"""What changed in the use of quota since waiting workloads were last looked at (see `wakes`)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, QueueName


@dataclass(slots=True)
class UsageChanges:
    """All usage changes since waiting workloads were last looked at."""

    released: dict[QueueName, dict[FlavorResource, None]] = field(default_factory=dict)
    """Queue → flavor-resources of which it gave something back; none if only a priority changed."""
    newcomers: dict[QueueName, int] = field(default_factory=dict)
    """Queue → the lowest priority among those in it who became possible victims."""
    admitted: dict[QueueName, None] = field(default_factory=dict)
    """Queues in which an admission was decided."""
    joined: dict[QueueName, set[str]] = field(default_factory=dict)
    """Queue → ResourceClaims that somebody in it began to use."""
    claimed: dict[QueueName, None] = field(default_factory=dict)
    """Queues in which somebody began to stand, or preempted others."""

    def release(self, queue: QueueName, resources: Iterable[FlavorResource]) -> None:
        known = self.released.setdefault(queue, {})
        for one in resources:
            known[one] = None

    def welcome(self, holder: Holder) -> None:
        lowest = self.newcomers.get(holder.queue)
        if lowest is None or holder.priority < lowest:
            self.newcomers[holder.queue] = holder.priority

    def add(self, queue: QueueName, other: "UsageChanges") -> None:
        """Add what other changes say of releases and new claims in one queue."""
        if queue in other.released:
            self.release(queue, other.released[queue])
        if queue in other.claimed:
            self.claimed[queue] = None
