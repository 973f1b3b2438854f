"""Events that users read with `kubectl describe`: on the Job, on its Workload, on a Cohort.

In Kueue mode all of Kueue's Events are recorded. Otherwise those are left out that only repeat a
condition, so that an admission costs two Events: `Admitted` on the Workload, whose text includes
that of `QuotaReserved`, and `Started` on the Job.
"""

from typing import Protocol

from queueing.core.settings import Compatibility
from queueing.kube.events import EventNote, EventType, Regarding
from queueing.translate.jobs.composition import API_VERSION
from queueing.translate.wire.meta import Meta

_ONLY_IN_KUEUE_MODE = frozenset({"QuotaReserved", "CreatedWorkload", "FinishedWorkload", "Stopped"})


class Recorder(Protocol):
    """Writes Events at some later time; `kube.events.EventRecorder` is one."""

    def record(self, regarding: Regarding, note: EventNote) -> None: ...


class Events:
    """Records Events. They may be lost: nothing depends on them."""

    def __init__(self, recorder: Recorder, compatibility: Compatibility) -> None:
        self._recorder = recorder
        self._tells_waits = compatibility is Compatibility.KUEUE
        self._left_out = (
            frozenset() if compatibility is Compatibility.KUEUE else _ONLY_IN_KUEUE_MODE
        )

    def workload(self, meta: Meta, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an Event of a Workload, unless its reason is left out in this mode."""
        self._record(_regarding(API_VERSION, "Workload", meta), reason, message, warning=warning)

    def cohort(self, meta: Meta, trouble: str) -> None:
        """Record which part of a Cohort's spec is ignored; a Cohort has no condition to say so."""
        regarding = _regarding(API_VERSION, "Cohort", meta)
        self._write(regarding, "Misconfigured", f"Counts as not given: {trouble}", warning=True)

    def reserved(self, meta: Meta, message: str) -> None:
        """Record a reservation that is not an admission yet, in every mode."""
        self._write(_regarding(API_VERSION, "Workload", meta), "QuotaReserved", message)

    def waits(self, meta: Meta, reason: str, message: str) -> None:
        """Record why a Workload waits; only in Kueue mode, else its condition alone says so."""
        if self._tells_waits:
            self.workload(meta, reason, message, warning=True)

    def job(self, meta: Meta, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an Event of a Job, unless its reason is left out in this mode."""
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
            message=message,
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
