"""In which phase of its life a Workload is (docs/reference/lifecycle.md)."""

from enum import StrEnum

from queueing.core.facts import WorkloadFact
from queueing.lifecycle.rules import held_by


class Phase(StrEnum):
    PENDING = "Pending"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    ON_HOLD = "OnHold"
    INACTIVE = "Inactive"
    FINISHED = "Finished"


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
