"""The quota that one workload holds, and sums over the workloads of a queue."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from queueing.core.decisions import Admit
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource
from queueing.core.values import value


@value(kw_only=False)
class Charge:
    """The quota held by one workload. `decision` is set while it is assumed, not yet a fact."""

    holder: Holder
    admitted: bool
    decision: Admit | None = None


@dataclass(slots=True)
class Tally:
    """Counts and sums over the charges of a ClusterQueue, or over those of one LocalQueue only."""

    reserving: int = 0
    """Workloads that hold quota, admitted ones included."""
    admitted: int = 0
    used: dict[FlavorResource, int] = field(default_factory=dict)
    """Held by admitted workloads."""
    only_reserved: dict[FlavorResource, int] = field(default_factory=dict)
    """Held by workloads that are not admitted yet."""

    @property
    def reserved(self) -> dict[FlavorResource, int]:
        """Held by all workloads."""
        sums = dict(self.used)
        for resource, amount in self.only_reserved.items():
            sums[resource] = sums.get(resource, 0) + amount
        return sums

    def add(self, charge: Charge, sign: int) -> None:
        """Count a charge in, or with sign -1 out."""
        self.reserving += sign
        if charge.admitted:
            self.admitted += sign
        total = self.used if charge.admitted else self.only_reserved
        for resource, amount in charge.holder.usage.items():
            left = total.get(resource, 0) + sign * amount
            if left:
                total[resource] = left
            else:
                total.pop(resource, None)


def together(tallies: Iterable[Tally]) -> Tally:
    """Return the counts and sums of several tallies."""
    total = Tally()
    for one in tallies:
        total.reserving += one.reserving
        total.admitted += one.admitted
        for sums, amounts in (total.used, one.used), (total.only_reserved, one.only_reserved):
            for resource, amount in amounts.items():
                sums[resource] = sums.get(resource, 0) + amount
    return total


def is_running(charge: Charge) -> bool:
    """Say whether a workload is admitted by a fact, not only by assumption."""
    return charge.admitted and charge.decision is None


def is_same(old: Charge, new: Charge) -> bool:
    """Say whether two charges of one workload are equal in all that decisions and views use.

    Whether they are assumed is not compared, nor is the time of an assumed reservation.
    """
    one, other = old.holder, new.holder
    return (
        old.admitted == new.admitted
        and one.uid == other.uid
        and one.queue == other.queue
        and one.local_queue == other.local_queue
        and one.priority == other.priority
        and one.timestamp == other.timestamp
        and one.evicted == other.evicted
        and one.usage == other.usage
        and one.parts == other.parts
        and one.stake == other.stake
        and (old.decision is not None or one.reserved_at == other.reserved_at)
    )
