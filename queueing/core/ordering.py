"""Who comes first: in a queue, and among the heads of a round."""

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import WorkloadFact
from queueing.core.names import Uid
from queueing.core.settings import RequeuingTimestamp, Settings

QueueKey = tuple[float, int, int, float, str]
"""Sorts ascending: usage of the LocalQueue, sticky, priority, timestamp, uid."""

EntryKey = tuple[int, int, float, Uid]
"""Sorts ascending: borrowing level, priority, timestamp, uid."""


def queue_timestamp(workload: WorkloadFact, settings: Settings) -> float:
    """Return since when a workload queues, in seconds since the epoch.

    It is the creation, so that a preempted workload returns to its old place; but the eviction
    for one whose checks sent it back, or whose pods did not get ready in time if so configured.
    """
    evicted = workload.conditions.get("Evicted")
    if evicted is not None and evicted.status:
        if (
            evicted.reason == "PodsReadyTimeout"
            and settings.requeuing_timestamp is RequeuingTimestamp.EVICTION
        ):
            return evicted.changed
        if evicted.reason == "AdmissionCheck":
            return evicted.changed
    if not settings.priority_sorting_within_cohort:
        preempted = workload.conditions.get("Preempted")
        if (
            preempted is not None
            and preempted.status
            and preempted.reason == PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
        ):
            return preempted.changed + 0.001
    return workload.created


def queue_key(
    workload: WorkloadFact, timestamp: float, *, local_usage: float = 0.0, sticky: bool = False
) -> QueueKey:
    """Return the place of a workload in its queue; the smallest is the head.

    `local_usage` is the usage history of its LocalQueue where admission fair sharing is on;
    `sticky` marks the workload whose preemptions are in flight.
    """
    return local_usage, 0 if sticky else 1, -workload.priority, timestamp, workload.uid


def entry_key(
    workload: WorkloadFact, borrow: int, timestamp: float, settings: Settings
) -> EntryKey:
    """Return the place of a head among those of its round, without fair sharing.

    Least borrowing, highest priority (where that counts), longest queued, uid. Where preemptors
    come first, the caller sorts them so.
    """
    priority = -workload.priority if settings.priority_sorting_within_cohort else 0
    return borrow, priority, timestamp, workload.uid
