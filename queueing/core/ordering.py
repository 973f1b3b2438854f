"""The order of workloads in a queue."""

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import WorkloadFact
from queueing.core.settings import RequeuingTimestamp, Settings

QueueKey = tuple[float, int, int, float, str]
"""Sorts ascending: usage of the LocalQueue, sticky, priority, timestamp, uid."""


def queue_timestamp(workload: WorkloadFact, settings: Settings) -> float:
    """Return since when a workload is queued, in seconds since the epoch.

    That is its creation, so that a preempted workload returns to its old place. For a workload that
    an admission check evicted, or, if so configured, one whose pods were not ready in time, it is
    the eviction.
    """
    evicted = workload.conditions.get("Evicted")
    if evicted is not None and evicted.status:
        by_eviction = settings.requeuing_timestamp is RequeuingTimestamp.EVICTION
        unready = evicted.reason == "PodsReadyTimeout" and by_eviction
        if unready or evicted.reason == "AdmissionCheck":
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
    workload: WorkloadFact,
    timestamp: float,
    *,
    local_usage: float = 0.0,
    sticky: bool = False,
    tie: str = "",
) -> QueueKey:
    """Return the place of a workload in its queue; the smallest is the head.

    `local_usage` is the usage history of its LocalQueue with admission fair sharing; `sticky` marks
    a workload whose preemptions are in progress; `tie` decides between equals, else the uid.
    """
    return local_usage, 0 if sticky else 1, -workload.priority, timestamp, tie or workload.uid
