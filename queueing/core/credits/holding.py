"""Since when, and until when, a workload holds quota, by the times in its status."""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.credits.allowance import seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.usage import held_usage


class Holding(NamedTuple):
    """Quota held by one workload, from `since` to `until` (None: still)."""

    uid: Uid
    queue: QueueName
    priority: int
    usage: Mapping[FlavorResource, int]
    since: int
    until: int | None = None
    local_queue: Key | None = None
    may_last: int | None = None
    """Seconds from `since` after which it is to be over; None when the workload does not say."""


def holding_of(
    fact: WorkloadFact, *, usage: Mapping[FlavorResource, int] | None = None
) -> Holding | None:
    """Read what a status says; None when it tells of no quota, held or held before the end.

    `usage` is what the admission charges, for those who know it already.
    """
    reserved = fact.conditions.get("QuotaReserved")
    if fact.admission is None or reserved is None or not reserved.status:
        return None
    finished = fact.conditions.get("Finished")
    over = finished is not None and finished.status
    return Holding(
        uid=fact.uid,
        queue=fact.admission.cluster_queue,
        priority=fact.priority,
        usage=held_usage(fact) if usage is None else usage,
        since=int(reserved.changed),
        until=int(finished.changed) if over and finished is not None else None,
        local_queue=fact.local_queue,
        may_last=seconds_of(fact),
    )


def released_at(fact: WorkloadFact) -> int | None:
    """Return when a workload that holds nothing gave its quota back; None when it never had any."""
    reserved = fact.conditions.get("QuotaReserved")
    return int(reserved.changed) if reserved is not None and not reserved.status else None


def running_since(fact: WorkloadFact) -> int | None:
    """Return since when all pods of a workload run; None as long as they do not.

    Of one that finished before they were all ready it is the time of its admission.
    """
    ready, admitted = fact.conditions.get("PodsReady"), fact.conditions.get("Admitted")
    if ready is not None and ready.status:
        return int(ready.changed)
    if fact.is_true("Finished") and admitted is not None and admitted.status:
        return int(admitted.changed)
    return None
