"""Events that users read with `kubectl describe`: on the Job and on its Workload.

Those that repeat a condition are not recorded, the reasons to wait only in Kueue mode. There all
others are; else an admission costs two: `Admitted` on the Workload, whose text also says what
`QuotaReserved` would, and `Started` on the Job.
"""

from typing import Protocol

from queueing.core.settings import Compatibility
from queueing.kube.events import EventNote, EventType, Regarding
from queueing.translate.jobs.composition import API_VERSION
from queueing.translate.wire.meta import Meta

_ONLY_IN_KUEUE_MODE = frozenset({"QuotaReserved", "CreatedWorkload", "FinishedWorkload", "Stopped"})
_MESSAGE_MAX = 1024
"""What the API server takes as the note of an event."""


class Recorder(Protocol):
    """Who writes events."""

    def record(self, regarding: Regarding, note: EventNote) -> None: ...


class Events:
    """Records events; losing one loses no state."""

    def __init__(self, recorder: Recorder, compatibility: Compatibility) -> None:
        self._recorder = recorder
        self._tells_waits = compatibility is Compatibility.KUEUE
        self._left_out = (
            frozenset() if compatibility is Compatibility.KUEUE else _ONLY_IN_KUEUE_MODE
        )

    def workload(self, meta: Meta, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an event of a Workload."""
        self._record(_regarding(API_VERSION, "Workload", meta), reason, message, warning=warning)

    def cohort(self, meta: Meta, trouble: str) -> None:
        """Record what of a Cohort counts as not given; it has no condition that could say so."""
        regarding = _regarding(API_VERSION, "Cohort", meta)
        self._write(regarding, "Misconfigured", f"Counts as not given: {trouble}", warning=True)

    def reserved(self, meta: Meta, message: str) -> None:
        """Record a reservation that is no admission yet: no other event tells of it."""
        self._write(_regarding(API_VERSION, "Workload", meta), "QuotaReserved", message)

    def waits(self, meta: Meta, reason: str, message: str) -> None:
        """Record why a Workload waits, where its condition alone is not what users know."""
        if self._tells_waits:
            self.workload(meta, reason, message, warning=True)

    def job(self, meta: Meta, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an event of a Job."""
        self._record(_regarding("batch/v1", "Job", meta), reason, message, warning=warning)

    def _record(self, regarding: Regarding, reason: str, message: str, *, warning: bool) -> None:
        if reason not in self._left_out:
            self._write(regarding, reason, message, warning=warning)

    def _write(
        self, regarding: Regarding, reason: str, message: str, *, warning: bool = False
    ) -> None:
        note = EventNote(
            reason=reason,
            action=reason,
            message=message[:_MESSAGE_MAX],
            type=EventType.WARNING if warning else EventType.NORMAL,
        )
        self._recorder.record(regarding, note)


def _regarding(api_version: str, kind: str, meta: Meta) -> Regarding:
    return Regarding(
        api_version=api_version,
        kind=kind,
        name=meta.name,
        uid=meta.uid,
        namespace=meta.namespace,
    )
