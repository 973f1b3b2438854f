"""What is shown of queues: plain values for status, metrics, visibility and plans."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.core.names import CohortName, FlavorResource, Key, ResourceName
from queueing.state.memory.objects import Active


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """How much is charged of one flavor-resource, and how much of that is borrowed."""

    total: int
    borrowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageHistory:
    """The usage history of one LocalQueue, as its status stores it."""

    consumed: Mapping[ResourceName, float]
    """In whole units: cores, bytes."""
    updated: float
    """Seconds since the epoch."""
    usage: float = 0.0
    """The weighted sum that LocalQueues are compared by, entry penalties included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """Counts and usage of a ClusterQueue or of a LocalQueue.

    `reserving` counts the workloads that hold quota, `admitted` those of them that are admitted;
    `reservation` and `usage` are their charges, for every flavor-resource with a quota.
    """

    name: str
    pending_active: int
    pending_inadmissible: int
    reserving: int
    admitted: int
    reservation: Mapping[FlavorResource, Charged]
    usage: Mapping[FlavorResource, Charged]
    active: Active
    weighted_share: int = 0
    history: UsageHistory | None = None
    """Only of a LocalQueue whose ClusterQueue uses admission fair sharing."""

    @property
    def pending(self) -> int:
        """The number of pending workloads, inadmissible ones included."""
        return self.pending_active + self.pending_inadmissible


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortView:
    """Quota and usage of a cohort with all below it."""

    name: CohortName
    quota: Mapping[FlavorResource, int]
    """Quota of the subtree: without what its members do not lend."""
    usage: Mapping[FlavorResource, Charged]
    weighted_share: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingItem:
    """A pending workload, and its positions in its ClusterQueue and LocalQueue, from 0."""

    key: Key
    priority: int
    local_queue: Key | None
    position_in_cluster_queue: int
    position_in_local_queue: int
    inadmissible: bool
