"""What the engine shows of itself: plain values for status, metrics, visibility and plans."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.core.names import CohortName, FlavorResource, Key, QueueName
from queueing.state.usage.turns import UsageHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """The Active condition of a queue."""

    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """How much is charged of one flavor-resource, and how much of that is borrowed."""

    total: int
    borrowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """Counts and usage of a ClusterQueue or of a LocalQueue.

    Reserving counts those that hold quota, admitted those of them that may run; `reservation` and
    `usage` are what these two are charged for, over every flavor-resource with a quota.
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
    """Of a LocalQueue whose ClusterQueue lets LocalQueues take turns."""

    @property
    def pending(self) -> int:
        """All that wait."""
        return self.pending_active + self.pending_inadmissible


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortView:
    """Quota and usage of a cohort with all below it."""

    name: CohortName
    parent: CohortName | None
    quota: Mapping[FlavorResource, int]
    """Quota of the subtree, without what its members keep to themselves."""
    nominal: Mapping[FlavorResource, int]
    usage: Mapping[FlavorResource, Charged]
    weighted_share: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingItem:
    """A pending workload and its place, counted from 0, in both of its queues."""

    key: Key
    priority: int
    local_queue: Key | None
    position_in_cluster_queue: int
    position_in_local_queue: int
    inadmissible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Names, sorted, of objects whose view may differ from what it was."""

    cluster_queues: tuple[QueueName, ...] = ()
    local_queues: tuple[Key, ...] = ()
    cohorts: tuple[CohortName, ...] = ()
