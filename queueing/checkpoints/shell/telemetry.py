"""Metrics and trace spans of requests to save. Nothing depends on them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from queueing.checkpoints.memory import SeenCheckpoint
from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, SaveOutcome
from queueing.checkpoints.rules.times import UNKNOWN, Moments, stages, work
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.traces import Left, WorkloadTraces
from queueing.core.names import Key
from queueing.observe.metrics import Metrics
from queueing.observe.spans import Attributes, Timed, root_of
from queueing.observe.trace_ids import SpanRef
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

_FINISHED, _WITHDRAWN = "Finished", "Withdrawn"
_OUTCOMES = (*map(str, SaveOutcome), _FINISHED, _WITHDRAWN)
_SETTLED = frozenset(
    {Phase.DRAINED, Phase.RELEASED, Phase.REQUEUED, Phase.FINISHED, Phase.CANCELLED}
)
"""Phases in which no pod runs any more, or the workload stays."""
_GONE = frozenset({Phase.DRAINED, Phase.RELEASED, Phase.REQUEUED})
_TOLD = _SETTLED - {Phase.DRAINED}
"""Phases in which the span of a request is exported."""


REQUESTS_MAX = 10_000
"""How many requests have notes; those whose Checkpoint was deleted while open keep theirs."""


@dataclass(slots=True)
class _Noted:
    """What is noted of a request until its span is exported."""

    moments: Moments = UNKNOWN
    left: Left | None = None


@dataclass(frozen=True, slots=True)
class CheckpointTelemetry:
    """Called by the reconciler with each step of a request."""

    objects: Objects
    metrics: Metrics
    traces: WorkloadTraces | None
    _noted: dict[str, _Noted] = field(default_factory=dict, init=False)
    """By the identity of the request; empty where tracing is off."""

    def begun(self, workload: Workload, record: Record) -> None:
        """Count a request that was made, and note when its victim was chosen."""
        where = _where(workload, record)
        cause = record.request.cause
        self.metrics.checkpoint_requests_total.labels(**where, reason=cause.reason).inc()
        for outcome in _OUTCOMES:
            # From 0 on: a rate does not see the increment with which a series begins.
            self.metrics.checkpoint_outcomes_total.labels(**where, outcome=outcome)
        preemptor = self.objects.checkpoints.preemptors.get(cause.preemptor)
        if self.traces is not None and preemptor is not None:
            chosen_at = self.traces.chosen(preemptor, workload.metadata.key)
            self._of(record).moments = Moments(chosen_at=chosen_at)

    def halting(self, record: Record, jobs: Sequence[JobView], now: float) -> None:
        """Note when all Jobs were suspended, which is long before their pods have ended."""
        if self.traces is None or record.phase is not Phase.SUSPENDING or not jobs:
            return
        noted = self._of(record)
        if noted.moments.halted_at is None and all(job.suspended for job in jobs):
            noted.moments = replace(noted.moments, halted_at=now)

    def forget(self, record: Record) -> None:
        """Forget the notes of a request that is over."""
        self._noted.pop(record.request.request_id, None)

    def _of(self, record: Record) -> _Noted:
        found = self._noted.setdefault(record.request.request_id, _Noted())
        if len(self._noted) > REQUESTS_MAX:
            del self._noted[next(iter(self._noted))]
        return found

    def stepped(
        self,
        seen: SeenCheckpoint,
        workload: Workload,
        after: Record,
        now: float,
    ) -> None:
        """Measure a stored step, from the record in `seen` to `after`."""
        before, where, metrics = seen.record, _where(workload, after), self.metrics
        if before.accepted_at is None and after.accepted_at is not None:
            asked_s = after.accepted_at - (after.notified_at or after.request.requested_at)
            metrics.checkpoint_ack_seconds.labels(**where).observe(max(asked_s, 0.0))
        if before.outcome is not SaveOutcome.SAVED and after.outcome is SaveOutcome.SAVED:
            saved_s = max(now - after.request.requested_at, 0.0)
            metrics.checkpoint_save_seconds.labels(**where).observe(saved_s)
        if before.phase not in _SETTLED and after.phase in _SETTLED:
            self._settled(seen, workload, after, now)
        if before.phase not in _TOLD and after.phase in _TOLD:
            self._tell(workload, after, now)
        self._stand()

    def _stand(self) -> None:
        """Set the gauges of open requests by phase."""
        found: Counter[tuple[str, ...]] = Counter(
            (str(one.record.phase),) for one in self.objects.checkpoints.open_seen()
        )
        self.metrics.checkpoint_requests.replace_all(found)

    def _settled(
        self,
        seen: SeenCheckpoint,
        workload: Workload,
        after: Record,
        now: float,
    ) -> None:
        where, metrics = _where(workload, after), self.metrics
        metrics.checkpoint_outcomes_total.labels(**where, outcome=_outcome(after)).inc()
        if after.phase is Phase.CANCELLED and after.outcome is not None:
            metrics.checkpoint_spared_total.labels(**where).inc()
        if after.suspended_at is not None:
            drained_s = max(now - after.suspended_at, 0.0)
            metrics.checkpoint_drain_seconds.labels(**where).observe(drained_s)
        done = work(after, self._since(seen, workload), now)
        if after.phase is not Phase.FINISHED:
            pods = _pods(workload)
            saved, lost = done.saved_s * pods, done.lost_s * pods
            metrics.checkpoint_saved_work_pod_seconds_total.labels(**where).inc(saved)
            metrics.checkpoint_lost_work_pod_seconds_total.labels(**where).inc(lost)
        if self.traces is not None:
            noted = self._of(after)
            if after.phase in _GONE:
                noted.moments = replace(noted.moments, drained_at=now)
            told: Attributes = {
                "queueing.cluster_queue": where["cluster_queue"],
                "queueing.cohort": self._cohort(where["cluster_queue"]),
                "queueing.saved_work_s": round(done.saved_s, 3),
                "queueing.lost_work_s": round(done.lost_s, 3),
                **_described(after, now),
            }
            noted.left = self._left(workload, after, now, told)
            self.traces.stopped(noted.left)

    def _tell(self, workload: Workload, after: Record, now: float) -> None:
        """Export the span of a request that is over.

        The queues that it names were noted before the release, after which the status lacks them.
        """
        if self.traces is None:
            return
        noted = self._of(after)
        known = noted.left.timed.attributes if noted.left is not None else _described(after, now)
        self.traces.left(self._left(workload, after, now, known))

    def _parts(self, after: Record, now: float) -> tuple[Timed, ...]:
        moments = self._of(after).moments
        found = stages(after, now, moments)
        return tuple(Timed(name=one.name, began=one.began, ended=one.ended) for one in found)

    def _cohort(self, name: str) -> str:
        queue = self.objects.cluster_queues.get(name)
        return queue.spec.cohort_name if queue is not None else ""

    def _left(
        self,
        workload: Workload,
        after: Record,
        now: float,
        told: Attributes,
    ) -> Left:
        request = after.request
        parts = self._parts(after, now)
        failed = after.outcome in {SaveOutcome.FAILED, SaveOutcome.UNRESPONSIVE}
        whole = Timed(
            name="eviction",
            began=min([request.requested_at, *(one.began for one in parts)]),
            ended=max([request.requested_at, *(one.ended for one in parts)]),
            attributes={"queueing.victim": workload.metadata.key, **told},
            failure=after.message if failed else "",
            inside=parts,
        )
        needed = request.cause.preemptor
        preemptor = self.objects.checkpoints.preemptors.get(needed)
        return Left(
            workload=workload.metadata,
            number=request.epoch,
            timed=whole,
            preemptor=preemptor,
            preemptor_root=self._root(needed, preemptor) if needed else None,
        )

    def _root(self, uid: str, key: Key | None) -> SpanRef:
        """Return the root of a preemptor's trace, by its uid and, if it is known, its key."""
        found = self.objects.workloads.get(key) if key is not None else None
        return root_of(uid, "" if found is None else found.metadata.traceparent)

    def _since(self, seen: SeenCheckpoint, workload: Workload) -> float:
        """Return since when work could be lost: since the start, or since the save before this."""
        started = workload.status.true_condition("Admitted")
        began = started.changed if started is not None else seen.record.request.requested_at
        earlier = (
            one.record.saved.at
            for one in self.objects.checkpoints.of_workload(seen.workload, seen.workload_uid)
            if one.meta.key != seen.meta.key
            and one.record.saved is not None
            and one.record.saved.at is not None
        )
        return max([began, *earlier])


def _where(workload: Workload, record: Record) -> dict[str, str]:
    admission = workload.status.admission
    return {
        "cluster_queue": admission.cluster_queue if admission is not None else "",
        "driver": str(record.request.terms.driver),
    }


def _outcome(record: Record) -> str:
    ended = _FINISHED if record.phase is Phase.FINISHED else _WITHDRAWN
    return str(record.outcome or ended)


def _described(record: Record, now: float) -> Attributes:
    """Return the attributes of a span that the request itself tells."""
    request = record.request
    told: Attributes = {
        "queueing.reason": request.cause.reason,
        "queueing.driver": str(request.terms.driver),
        "queueing.outcome": _outcome(record),
        "queueing.attempts": record.attempts,
    }
    if record.outcome is not SaveOutcome.SAVED:
        return told
    until = record.suspended_at if record.suspended_at is not None else now
    return {**told, "queueing.save_s": round(max(until - request.requested_at, 0.0), 3)}


def _pods(workload: Workload) -> int:
    admission = workload.status.admission
    found = admission.pod_set_assignments if admission is not None else []
    return sum(one.count or 0 for one in found)
