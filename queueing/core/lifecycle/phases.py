"""The phases of a Workload, and the table of what leads from one to the next."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from queueing.core.facts import WorkloadFact


class Phase(StrEnum):
    """Where a Workload stands."""

    PENDING = "Pending"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    """Told to stop; quota is held until its pods are gone."""
    ON_HOLD = "OnHold"
    """Free of quota, and not to be queued until something happens."""
    INACTIVE = "Inactive"
    FINISHED = "Finished"


class Event(StrEnum):
    """What moves a Workload from one phase to the next."""

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
    """Read the phase from what the object says."""
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
    """Return the reason of `Requeued=False`; empty when nothing holds the Workload."""
    requeued = workload.conditions.get("Requeued")
    return requeued.reason if requeued is not None and not requeued.status else ""
