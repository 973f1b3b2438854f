"""What changed in the use of quota since waiting workloads were last looked at (see `wakes`)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, QueueName


@dataclass(slots=True)
class Tidings:
    """What happened to quota since waiting workloads were last looked at."""

    released: dict[QueueName, dict[FlavorResource, None]] = field(default_factory=dict)
    """Flavor-resources of which a queue gave something back; of none if only a priority changed."""
    newcomers: dict[QueueName, int] = field(default_factory=dict)
    """Lowest priority of those who became possible victims in a queue."""
    admitted: dict[QueueName, None] = field(default_factory=dict)
    """Queues of which somebody's admission was decided."""
    joined: dict[QueueName, set[str]] = field(default_factory=dict)
    """Claims that somebody of a queue uses from now on."""
    claimed: dict[QueueName, None] = field(default_factory=dict)
    """Queues of which somebody began to wait for victims, or has others leave."""

    def release(self, queue: QueueName, resources: Iterable[FlavorResource]) -> None:
        self.released.setdefault(queue, {}).update(dict.fromkeys(resources))

    def welcome(self, holder: Holder) -> None:
        lowest = self.newcomers.get(holder.queue, holder.priority)
        self.newcomers[holder.queue] = min(lowest, holder.priority)

    def add(self, queue: QueueName, other: "Tidings") -> None:
        """Take over what happened in a queue by other tidings."""
        if queue in other.released:
            self.release(queue, other.released[queue])
        if queue in other.claimed:
            self.claimed[queue] = None
