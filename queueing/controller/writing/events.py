"""Events that users read with `kubectl describe`: on the Job, on its Workload, on a Cohort.

In Kueue mode all of Kueue's Events are recorded. Otherwise an admission costs two: `Admitted` on
the Workload, whose text includes that of `QuotaReserved`, and `Started` on the Job. Why a Workload
waits is recorded in both modes; on its Jobs as well, except in Kueue mode. Events about a Workload
end with its address on the page, where that of the page is configured, but for Kueue mode.
"""

from collections.abc import Iterable
from typing import Protocol

from queueing.core.settings import Compatibility
from queueing.kube.events import EventNote, EventType, Regarding
from queueing.lifecycle.steps import Evict
from queueing.translate.jobs.composition import API_VERSION
from queueing.translate.jobs.view import JobView
from queueing.translate.page_links import workload_page
from queueing.translate.wire.meta import Meta

_ONLY_IN_KUEUE_MODE = frozenset({"QuotaReserved", "CreatedWorkload", "FinishedWorkload", "Stopped"})


class Recorder(Protocol):
    """Writes Events at some later time; `kube.events.EventRecorder` is one."""

    def record(self, regarding: Regarding, note: EventNote) -> None: ...


class Events:
    """Records Events. They may be lost: nothing depends on them."""

    def __init__(self, recorder: Recorder, compatibility: Compatibility, page: str = "") -> None:
        """`page` is the address of the page for its visitors; empty where there is none."""
        self._recorder = recorder
        self._is_kueue = compatibility is Compatibility.KUEUE
        self._page = "" if self._is_kueue else page
        self._left_out = frozenset() if self._is_kueue else _ONLY_IN_KUEUE_MODE

    def workload(self, meta: Meta, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an Event of a Workload, unless its reason is left out in this mode."""
        if reason not in self._left_out:
            regarding = _regarding(API_VERSION, "Workload", meta)
            link = workload_page(self._page, meta.namespace, meta.name) if self._page else ""
            self._write(regarding, reason, message, warning=warning, link=link)

    def evicted(self, meta: Meta, step: Evict, *, warning: bool = False) -> None:
        """Record the eviction of a Workload, by its reason."""
        self.workload(meta, f"EvictedDueTo{step.wire_reason}", step.message, warning=warning)

    def cohort(self, meta: Meta, trouble: str) -> None:
        """Record which part of a Cohort's spec is ignored; a Cohort has no condition to say so."""
        regarding = _regarding(API_VERSION, "Cohort", meta)
        self._write(regarding, "Misconfigured", f"Counts as not given: {trouble}", warning=True)

    def pod(self, meta: Meta, reason: str, message: str) -> None:
        """Record an Event of a pod."""
        self._write(_regarding("v1", "Pod", meta), reason, message)

    def reserved(self, meta: Meta, message: str) -> None:
        """Record a reservation that is not an admission yet, in every mode."""
        link = workload_page(self._page, meta.namespace, meta.name)
        regarding = _regarding(API_VERSION, "Workload", meta)
        self._write(regarding, "QuotaReserved", message, link=link)

    def waits(self, meta: Meta, reason: str, message: str, jobs: Iterable[JobView]) -> None:
        """Record why a Workload waits, and on its `jobs` that it does.

        Not on Jobs in Kueue mode: there `CreatedWorkload` says which Workload to look at.
        """
        self.workload(meta, reason, message, warning=True)
        link = workload_page(self._page, meta.namespace, meta.name)
        for job in () if self._is_kueue else jobs:
            told = f"Workload {meta.name} waits: {message}"
            regarding = _regarding(job.kind.api_version, job.kind.kind, job.metadata)
            self._write(regarding, reason, told, warning=True, link=link)

    def job(self, job: JobView, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an Event of a job, unless its reason is left out in this mode."""
        if reason not in self._left_out:
            regarding = _regarding(job.kind.api_version, job.kind.kind, job.metadata)
            self._write(regarding, reason, message, warning=warning)

    def _write(
        self,
        regarding: Regarding,
        reason: str,
        message: str,
        *,
        warning: bool = False,
        link: str = "",
    ) -> None:
        note = EventNote(
            reason=reason,
            action=reason,
            message=message,
            type=EventType.WARNING if warning else EventType.NORMAL,
            link=link,
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
