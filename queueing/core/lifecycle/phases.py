"""The phases of a Workload, and the events that lead from one to the next."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from queueing.core.facts import WorkloadFact


class Phase(StrEnum):
    """The phase of a Workload."""

    PENDING = "Pending"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    """Must stop; it holds quota until its pods are gone."""
    ON_HOLD = "OnHold"
    """Has no quota, and is not queued until `Requeued` is True (condition `Requeued=False`)."""
    INACTIVE = "Inactive"
    FINISHED = "Finished"


INADMISSIBLE = "Inadmissible"
"""The reason of `Requeued=False` of a Workload for which the cluster has too few devices."""


class Event(StrEnum):
    """The events that move a Workload from one phase to the next."""

    QUOTA_RESERVED = "QuotaReserved"
    CHECKS_READY = "ChecksReady"
    EVICTION = "Eviction"
    RELEASED_TO_QUEUE = "ReleasedToQueue"
    RELEASED_ON_HOLD = "ReleasedOnHold"
    REQUEUED = "Requeued"
    DEACTIVATION = "Deactivation"
    REACTIVATION = "Reactivation"
    FINISH = "Finish"


TRANSITIONS: Mapping[tuple[Phase, Event], Phase] = MappingProxyType(
    {
        (Phase.PENDING, Event.QUOTA_RESERVED): Phase.RESERVED,
        (Phase.PENDING, Event.EVICTION): Phase.ON_HOLD,
        (Phase.PENDING, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.PENDING, Event.FINISH): Phase.FINISHED,
        (Phase.RESERVED, Event.CHECKS_READY): Phase.ADMITTED,
        (Phase.RESERVED, Event.EVICTION): Phase.EVICTED,
        (Phase.RESERVED, Event.FINISH): Phase.FINISHED,
        (Phase.ADMITTED, Event.EVICTION): Phase.EVICTED,
        (Phase.ADMITTED, Event.FINISH): Phase.FINISHED,
        (Phase.EVICTED, Event.RELEASED_TO_QUEUE): Phase.PENDING,
        (Phase.EVICTED, Event.RELEASED_ON_HOLD): Phase.ON_HOLD,
        (Phase.EVICTED, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.EVICTED, Event.FINISH): Phase.FINISHED,
        (Phase.ON_HOLD, Event.REQUEUED): Phase.PENDING,
        (Phase.ON_HOLD, Event.DEACTIVATION): Phase.INACTIVE,
        (Phase.ON_HOLD, Event.FINISH): Phase.FINISHED,
        (Phase.INACTIVE, Event.REACTIVATION): Phase.PENDING,
        (Phase.INACTIVE, Event.FINISH): Phase.FINISHED,
    }
)


def phase_of(workload: WorkloadFact) -> Phase:
    """Return the phase of a Workload, by its spec and status."""
    if workload.is_true("Finished"):
        return Phase.FINISHED
    if workload.holds_quota:
        if workload.is_true("Evicted"):
            return Phase.EVICTED
        return Phase.ADMITTED if workload.is_true("Admitted") else Phase.RESERVED
    if not workload.active:
        return Phase.INACTIVE
    return Phase.ON_HOLD if held_by(workload) else Phase.PENDING


def held_by(workload: WorkloadFact) -> str:
    """Return the reason of the condition `Requeued=False`; empty if there is none."""
    requeued = workload.conditions.get("Requeued")
    return requeued.reason if requeued is not None and not requeued.status else ""
