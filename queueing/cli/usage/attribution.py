"""Divides what a ClusterQueue lent among the LocalQueues that left their part of it idle.

A LocalQueue is entitled to a part of the queue's nominal quota, by fair-sharing weight. What the
queue lent in a stretch of time is divided in proportion to what each LocalQueue left unused then.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from queueing.core.credits.facts import UsageRow
from queueing.core.names import FlavorResource, Key, QueueName

LocalQueueWeights = Mapping[QueueName, Mapping[Key, Fraction]]
"""The LocalQueues of each queue, and their weights."""


def lent_by_local_queue(
    rows: Iterable[UsageRow], local_queues: LocalQueueWeights
) -> dict[tuple[QueueName, Key, FlavorResource], Fraction]:
    """Return what LocalQueues lent in one stretch of time, in `PART`s of amounts times seconds."""
    lent: dict[tuple[QueueName, FlavorResource], UsageRow] = {}
    used: dict[tuple[QueueName, Key, FlavorResource], int] = {}
    for row in rows:
        kind, name = row.name.holder
        if kind != "ClusterQueue":
            continue
        if row.lent:
            lent[QueueName(name), row.name.resource] = row
        if row.name.local_queue:
            place = QueueName(name), Key(row.name.local_queue), row.name.resource
            used[place] = used.get(place, 0) + row.used
    found: dict[tuple[QueueName, Key, FlavorResource], Fraction] = {}
    for (queue, resource), row in sorted(lent.items()):
        weights = dict(local_queues.get(queue, {}))
        whole = sum(weights.values())
        if not whole:
            continue
        idle = {
            local_queue: max(
                Fraction(0),
                row.quota * weight / whole - used.get((queue, local_queue, resource), 0),
            )
            for local_queue, weight in weights.items()
        }
        parts = idle if any(idle.values()) else weights
        total = sum(parts.values())
        for local_queue, part in sorted(parts.items()):
            found[queue, local_queue, resource] = row.lent * part / total
    return found
