"""What it costs to stop a workload, in work lost: which of equals goes first.

`cost = size * (lost + save + restart)`: the work since its start or last checkpoint, none of it for
one that saves before it is stopped; the time that saving takes; the time until the next run does
anything. Size is the most of what the preemptor asks that it holds, so that it has no unit.

It only ever decides between candidates that every other rule ranks the same. It counts where at
least one of them has a policy for its checkpoints: without, the order is the peer's.
"""

from collections.abc import Iterable

from queueing.core.holders import Holder
from queueing.core.preemption.query import Query
from queueing.core.stakes import Stake

UNKNOWN = Stake()


def is_protected(holder: Holder, query: Query) -> bool:
    """Say whether a workload has not run for its minimum runtime yet; one that leaves is free."""
    preemptor = query.preemptor
    if holder.stake is None or holder.evicted or not preemptor.weighs_work:
        return False
    return holder.protected_until > preemptor.now


def weighs(query: Query, holders: Iterable[Holder]) -> bool:
    """Say whether the cost of some candidates is known, so that it decides between equals."""
    if not query.preemptor.weighs_work:
        return False
    for one in holders:  # noqa: SIM110 - asked in each search; a generator costs twice as much
        if one.stake is not None:
            return True
    return False


def cost(holder: Holder, query: Query) -> float:
    """Return the cost of stopping a workload now, in seconds of all that the preemptor asks."""
    stake = holder.stake or UNKNOWN
    since = max(holder.started, stake.saved_at or 0.0)
    lost = 0.0 if stake.saves else max(query.preemptor.now - since, 0.0)
    return _size(holder, query) * (lost + stake.save_s + stake.restart_s)


def _size(holder: Holder, query: Query) -> float:
    """Return how many times what the preemptor asks of contested resources it holds."""
    return max(
        (
            holder.usage.get(one, 0) / query.requests[one]
            for one in query.contested
            if query.requests.get(one)
        ),
        default=0.0,
    )
