"""Events about a request to save, on the Workload and on its Jobs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, SaveOutcome
from queueing.controller.writing.events import Events
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

_WARNINGS: Mapping[SaveOutcome, str] = MappingProxyType(
    {SaveOutcome.UNRESPONSIVE: "CheckpointUnresponsive", SaveOutcome.FAILED: "CheckpointFailed"}
)


def tell(
    events: Events, workload: Workload, jobs: Sequence[JobView], before: Record, after: Record
) -> None:
    """Record the Events of a step from one stored record to the next."""
    for reason, message, warning in _said(before, after):
        events.workload(workload.metadata, reason, message, warning=warning)
        for job in jobs:
            events.job(job, reason, message, warning=warning)


def _said(before: Record, after: Record) -> list[tuple[str, str, bool]]:
    """Return the reason and message of each Event, and whether it is a warning."""
    found: list[tuple[str, str, bool]] = []
    if after.outcome is not before.outcome or after.saved != before.saved:
        if after.outcome is SaveOutcome.SAVED:
            saved = after.saved
            step = f" at step {saved.step}" if saved is not None and saved.step is not None else ""
            place = f" to {saved.uri}" if saved is not None and saved.uri else ""
            said = f"The work is saved{step}{place}"
            odd = "no URI" in after.message
            found.append(("CheckpointSaved", f"{said}; {after.message}" if odd else said, odd))
        elif after.outcome is not None and (reason := _WARNINGS.get(after.outcome)):
            found.append((reason, f"Not saved: {after.message}", True))
    if after.phase is Phase.REFUSED and before.phase is not Phase.REFUSED:
        found.append(("CheckpointRefused", f"Asked for a later time: {after.message}", False))
    if after.phase is Phase.CANCELLED and before.phase is not Phase.CANCELLED:
        found.append(("CheckpointCancelled", f"The workload stays: {after.message}", False))
    return found
