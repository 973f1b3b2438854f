"""The order of workloads in a queue."""

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import WorkloadFact
from queueing.core.settings import RequeuingTimestamp, Settings

QueueKey = tuple[bool, int, float, str]
"""Sorts ascending: sticky, priority, timestamp, uid."""


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
    workload: WorkloadFact, timestamp: float, *, sticky: bool = False, tie: str = ""
) -> QueueKey:
    """Return the place of a workload in its queue; the smallest is the head.

    `sticky` marks a workload whose preemptions are in progress; `tie` decides between equals, else
    the uid.
    """
    return not sticky, -workload.priority, timestamp, tie or workload.uid
