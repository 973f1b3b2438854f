"""Workloads that hold quota, as preemption sees them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.ordering import queue_timestamp
from queueing.core.settings import Settings
from queueing.core.sharing import ClaimCharge, Commons, Use, added
from queueing.core.stakes import Stake
from queueing.core.usage import held_parts
from queueing.core.values import value


@value(eq=False)
class Holder:
    """A workload that is charged to the tree; `usage` is exactly what is charged for it."""

    key: Key
    uid: Uid
    queue: QueueName
    local_queue: Key | None
    priority: int
    timestamp: float
    """Since when it queued, by which `newer` is judged."""
    reserved_at: float
    evicted: bool
    usage: Mapping[FlavorResource, int]
    stake: Stake | None = None
    """What stopping it would cost."""
    parts: tuple[ClaimCharge, ...] = ()
    """What it would be charged for claims that others may use, too, if they did not."""
    own: Mapping[FlavorResource, int] | None = None
    """What it is charged beside these; None without any."""
    members: tuple["Holder", ...] = ()
    """Several that can only be stopped together, because all use one claim; this one stands for
    them, with the highest of their priorities and the longest of their stays."""

    @property
    def use(self) -> Use:
        """What it holds, if need be together with others."""
        return Use(self.usage if self.own is None else self.own, self.parts)

    @property
    def started(self) -> float:
        """When its run began; as long as nothing tells of that, when it got its quota."""
        stake = self.stake
        return self.reserved_at if stake is None or stake.started is None else stake.started

    @property
    def protected_until(self) -> float:
        """When it has run for its minimum runtime: before, few may preempt it."""
        return self.started + (0.0 if self.stake is None else self.stake.minimum_runtime_s)

    @property
    def whole(self) -> Mapping[FlavorResource, int]:
        """What it would be charged if nobody else used its claims."""
        return self.usage if self.own is None else added(self.own, self.parts)


class Ranked(NamedTuple):
    """Who may be preempted in one queue, in the order in which equals by all else are taken."""

    holders: Sequence[Holder]
    has_stakes: bool
    """Whether it is known of anybody what stopping it would cost."""


class Holders(Protocol):
    """Where preemption finds its candidates."""

    def holders(self, queue: QueueName) -> Iterable[Holder]:
        """Return every charged workload of a queue, also the evicted ones, in any order."""

    def ranked(self, queue: QueueName) -> Ranked:
        """Return the same ranked: see `rank`."""

    def local_usage(self, queue: QueueName, local_queue: Key) -> float:
        """Return by what LocalQueues of a queue take turns; 0 where they do not."""

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        """Return those claims that workloads of a queue hold to stay; None when there is none."""


def rank(holders: Iterable[Holder]) -> Ranked:
    """Put those on their way out first; then lower priority, later reservation, uid."""
    in_order = sorted(holders, key=_rank)
    return Ranked(in_order, any(one.stake is not None for one in in_order))


def _rank(holder: Holder) -> tuple[bool, int, float, Uid]:
    return not holder.evicted, holder.priority, -holder.reserved_at, holder.uid


def holder_of(workload: WorkloadFact, settings: Settings) -> Holder:
    """Read a holder from a workload whose status says that it holds quota."""
    if workload.admission is None:
        msg = f"workload {workload.key} has no status.admission and so holds no quota"
        raise ValueError(msg)
    own, parts = held_parts(workload)
    return Holder(
        key=workload.key,
        uid=workload.uid,
        queue=workload.admission.cluster_queue,
        local_queue=workload.local_queue,
        priority=workload.priority,
        timestamp=queue_timestamp(workload, settings),
        reserved_at=workload.conditions["QuotaReserved"].changed,
        evicted=workload.is_true("Evicted"),
        usage=added(own, parts),
        stake=workload.stake,
        parts=parts,
        own=own if parts else None,
    )
