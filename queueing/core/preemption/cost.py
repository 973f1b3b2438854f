"""The cost of stopping a workload, in lost work: which of otherwise equal candidates goes first.

`cost = size * (lost + save + restart)`, in seconds. `lost` is the time since its start or last
checkpoint, 0 if it saves before it is stopped; `save` is how long saving takes; `restart` is how
long a new run takes until it does useful work. `size` is the largest ratio of what it holds to what
the preemptor requests, over the contested resources.

It only decides between candidates that all other rules rank the same, and counts only if at least
one of them has a CheckpointPolicy: otherwise the order is Kueue's (docs/decisions/0022).
"""

from collections.abc import Iterable

from queueing.core.holders import Holder
from queueing.core.preemption.query import Query
from queueing.core.stakes import Stake

UNKNOWN = Stake()


def is_protected(holder: Holder, query: Query) -> bool:
    """Say whether a workload's minimum runtime protects it still; not if it is evicted already."""
    preemptor = query.preemptor
    if holder.stake is None or holder.evicted or not preemptor.weighs_work:
        return False
    return holder.protected_until > preemptor.now


def weighs(query: Query, holders: Iterable[Holder]) -> bool:
    """Say whether the cost of any candidate is known, so that costs decide between equals."""
    return query.preemptor.weighs_work and any(one.stake is not None for one in holders)


def cost(holder: Holder, query: Query) -> float:
    """Return the cost of stopping a workload now, in seconds of what the preemptor requests."""
    stake = holder.stake or UNKNOWN
    since = max(holder.started, stake.saved_at or 0.0)
    lost = 0.0 if stake.saves else max(query.preemptor.now - since, 0.0)
    return _size(holder, query) * (lost + stake.save_s + stake.restart_s)


def _size(holder: Holder, query: Query) -> float:
    """Return the largest ratio of held to requested, over the contested resources."""
    return max(
        (
            holder.usage.get(one, 0) / query.requests[one]
            for one in query.contested
            if query.requests.get(one)
        ),
        default=0.0,
    )
