"""What changed in the usage of quota since the last `wakes.wake_waiting`."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, QueueName


@dataclass(slots=True)
class UsageChanges:
    """All usage changes since pending workloads were last checked against them."""

    released: dict[QueueName, dict[FlavorResource, None]] = field(default_factory=dict)
    """ClusterQueue → flavor-resources of which it released some; empty if only the priority of a
    holder changed."""
    newcomers: dict[QueueName, int] = field(default_factory=dict)
    """ClusterQueue → lowest priority of the workloads in it that became possible victims."""
    joined: dict[QueueName, set[str]] = field(default_factory=dict)
    """ClusterQueue → ResourceClaims that a holder in it uses, and whose charge may have changed."""

    def release(self, queue: QueueName, resources: Iterable[FlavorResource]) -> None:
        known = self.released.setdefault(queue, {})
        for one in resources:
            known[one] = None

    def welcome(self, holder: Holder) -> None:
        lowest = self.newcomers.get(holder.queue)
        if lowest is None or holder.priority < lowest:
            self.newcomers[holder.queue] = holder.priority
