"""Workloads that hold quota, as preemption sees them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from queueing.core.facts import PodSetAssignment
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.sharing import ClaimCharge, Commons, Use, added
from queueing.core.stakes import Stake
from queueing.core.topology.assignment import Occupancy
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
    """Since when it was queued; the policy LowerOrNewerEqualPriority compares it."""
    reserved_at: float
    evicted: bool
    usage: Mapping[FlavorResource, int]
    promised: bool = False
    """Whether the usage is only promised to it: to take that costs nobody anything."""
    stake: Stake | None = None
    """What stopping it would cost; None if no policy applies to its checkpoints."""
    parts: tuple[ClaimCharge, ...] = ()
    """What it would be charged for ResourceClaims if no other workload used them."""
    own: Mapping[FlavorResource, int] | None = None
    """What it is charged besides these claims; None if it uses none."""
    pod_sets: tuple[PodSetAssignment, ...] = ()
    """What its pod sets were given, if it is a slice of an elastic job."""
    places: tuple[Occupancy, ...] = ()
    """What a slice would use of leaves if no other slice of its job did."""
    elsewhere: Mapping[FlavorResource, int] | None = None
    """What counts for it where victims count as gone, if it differs: what is kept for one that is
    moved while it leaves, and with the places that were promised to a second pass."""
    members: tuple["Holder", ...] = ()
    """Holders that can only be stopped together, because they share a claim. This one represents
    them, with the highest of their priorities and the latest end of their minimum runtimes."""

    @property
    def runs(self) -> bool:
        """Whether a run would be lost if it was chosen: it is neither evicted nor only promised."""
        return not (self.evicted or self.promised)

    @property
    def counted(self) -> Mapping[FlavorResource, int]:
        """What is gone from the usage if it becomes a victim: at the places that are kept for it.

        Of one that is evicted it is what it still holds.
        """
        return self.usage if self.elsewhere is None or self.evicted else self.elsewhere

    @property
    def use(self) -> Use:
        """What it holds, with claims that others may use kept apart."""
        return Use(self.usage if self.own is None else self.own, self.parts)

    @property
    def started(self) -> float:
        """When its run began; if that is unknown, when it reserved quota."""
        stake = self.stake
        return self.reserved_at if stake is None or stake.started is None else stake.started

    @property
    def rank(self) -> tuple[int, float, Uid]:
        """The order in which those that run are stopped: lower priority, later reservation, uid."""
        return self.priority, -self.reserved_at, self.uid

    @property
    def protected_until(self) -> float:
        """When its minimum runtime is over."""
        return self.started + (0.0 if self.stake is None else self.stake.minimum_runtime_s)

    @property
    def whole(self) -> Mapping[FlavorResource, int]:
        """What it would be charged if no other workload used its claims."""
        return self.usage if self.own is None else added(self.own, self.parts)


class Ranked(NamedTuple):
    """The workloads of one queue that may be preempted, in the order of `rank`."""

    holders: Sequence[Holder]
    has_stakes: bool
    """Whether the cost of stopping any of them is known."""


ByPriority = Mapping[FlavorResource, Mapping[int, int]]
"""Flavor-resource → priority → the amount that workloads of this priority hold."""


class Holders(Protocol):
    """Where preemption finds its candidates; implemented by `queueing.state.usage.ledger`."""

    def holders(self, queue: QueueName) -> Iterable[Holder]:
        """Return the workloads of a queue that may be preempted, evicted ones too, in any order."""

    def ranked(self, queue: QueueName) -> Ranked:
        """Return the same in the order of `rank`."""

    def exposed(self, queue: QueueName) -> ByPriority:
        """Return what the same workloads hold, summed by priority."""

    def local_usage(self, queue: QueueName, local_queue: Key) -> float:
        """Return the usage by which LocalQueues of a queue take turns; 0 if they do not."""

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        """Return those of the claims that workloads of a queue, not evicted, use; None if none."""


def rank(holders: Iterable[Holder]) -> Ranked:
    """Sort holders: evicted or promised ones first, then as those that run are stopped."""
    in_order = sorted(holders, key=_rank)
    return Ranked(in_order, any(one.stake is not None for one in in_order))


def exposed_by(holders: Iterable[Holder]) -> ByPriority:
    """Return what workloads hold, summed by flavor-resource and priority."""
    found: dict[FlavorResource, dict[int, int]] = {}
    for holder in holders:
        for resource, amount in holder.usage.items():
            sums = found.setdefault(resource, {})
            sums[holder.priority] = sums.get(holder.priority, 0) + amount
    return found


def _rank(holder: Holder) -> tuple[bool, tuple[int, float, Uid]]:
    return holder.runs, holder.rank
