"""The OpenTelemetry trace of each workload, exported in rounds.

A round of a trace goes from the creation or requeueing of a Workload until its pods are ready, or
it is evicted or finished. While it waits, moments are noted; when the round is over they are
exported as spans. After a restart, attempts and changes of reason of the current round are missing;
everything else is read from the Workload's status.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from queueing.core.decisions import Admit, Cycle, Preempt, Wait
from queueing.core.names import Key
from queueing.observe.spans import (
    NOT_KNOWN,
    Attributes,
    Note,
    Placed,
    Round,
    Timed,
    cycle_of,
    eviction_of,
    plan_cycle,
    plan_eviction,
    plan_spans,
)
from queueing.observe.trace_ids import SpanRef, trace_id_of
from queueing.observe.traces import Tracer
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

NOTES_MAX = 16
"""How many attempts, and changes of reason, are kept per workload: the first ones, and the last."""
WORKLOADS_MAX = 100_000
"""How many workloads have notes. Beyond that the oldest are dropped, such as those of Workloads
that were deleted while they waited."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """An eviction with a request to save: of a workload that was stopped, or stayed after all."""

    workload: Meta
    number: int
    """Which of the workload's evictions it was."""
    timed: Timed
    preemptor: Key | None = None
    """The Workload that needed the quota; None where none did, or it is not known any more."""
    preemptor_root: SpanRef | None = None
    """The root of its trace; None where nobody needed the quota."""

    @property
    def traceparent(self) -> str:
        return self.workload.traceparent


@dataclass(slots=True)
class _Notes:
    reasons: list[Note] = field(default_factory=list)
    attempts: list[Timed] = field(default_factory=list)
    victims: list[Timed] = field(default_factory=list)
    steps: list[Timed] = field(default_factory=list)


class WorkloadTraces:
    """Notes what happens to pending workloads, and exports their spans; there if tracing is on."""

    def __init__(self, tracer: Tracer, origin: str = "") -> None:
        """Export by a tracer; `origin` names this process in this life, for its cycles."""
        self._tracer, self._origin = tracer, origin
        self._notes: dict[Key, _Notes] = {}

    def judged(self, cycle: Cycle, took_s: float = 0.0) -> None:
        """Note an attempt of each workload that a cycle judged, and why it waits.

        The cycle is exported itself, to which the attempts link; `took_s` is how long it took.
        """
        self._export_cycle(cycle, took_s)
        for decision in cycle.decisions:
            match decision:
                case Admit(workload=key):
                    self._attempt(key, cycle, "")
                case Wait(workload=key) if decision.mode is not None:
                    self._attempt(key, cycle, str(decision.reason))
                    reasons = self._of(key).reasons
                    if not reasons or reasons[-1].name != decision.reason:
                        said = {"queueing.message": decision.message}
                        _keep(reasons, Note(cycle.now, str(decision.reason), said))
                case Preempt(preemptor=key):
                    attributes = {
                        "queueing.victim": decision.workload,
                        "queueing.reason": str(decision.reason),
                    }
                    victim = Timed(
                        name="victim", began=cycle.now, ended=cycle.now, attributes=attributes
                    )
                    _keep(self._of(key).victims, victim)
                case _:
                    pass

    def chosen(self, preemptor: Key, victim: Key) -> float | None:
        """Return when a victim was chosen for a preemptor; None if that was not noted."""
        notes = self._notes.get(preemptor)
        place = _place_of(victim, notes.victims) if notes is not None else None
        return notes.victims[place].began if notes is not None and place is not None else None

    def stopped(self, told: Left) -> None:
        """Note how a victim was stopped, for the trace of its preemptor."""
        if told.preemptor is not None and not self._note_victim(told):
            _keep(self._of(told.preemptor).victims, _victim(told))

    def left(self, told: Left) -> None:
        """Export an eviction that is over as a span of the workload's own trace.

        The notes of its preemptor, if that still waits, are completed as well.
        """
        uid = told.workload.uid
        if self._tracer.keeps(uid, told.traceparent):
            links = (told.preemptor_root,) if told.preemptor_root is not None else ()
            whole = replace(told.timed, links=links)
            self._tracer.export(plan_eviction(uid, told.number, whole, told.traceparent))
        self._note_victim(told)

    def _note_victim(self, told: Left) -> bool:
        """Update the note of a victim in its preemptor's notes; False if they do not name it."""
        notes = self._notes.get(told.preemptor) if told.preemptor is not None else None
        place = _place_of(told.workload.key, notes.victims) if notes is not None else None
        if notes is None or place is None:
            return False
        victim, known = _victim(told), notes.victims[place]
        notes.victims[place] = replace(victim, began=min(known.began, victim.began))
        return True

    def step(self, key: Key, name: str, began: float, ended: float) -> None:
        """Note a write that belongs to the admission of a workload."""
        _keep(self._of(key).steps, Timed(name=name, began=began, ended=ended))

    def keeps(self, meta: Meta) -> bool:
        """Say whether the trace of a Workload is recorded."""
        return self._tracer.keeps(meta.uid, meta.traceparent)

    def ready(self, workload: Workload, placed: Placed, now: float) -> None:
        """Export a round that ended with all pods ready; `placed`: how they got their nodes."""
        self._export(workload, ready=now, placed=placed)

    def closed(self, workload: Workload, now: float) -> None:
        """Export a round that ended otherwise, unless it ended with all pods ready before."""
        if not workload.status.is_true("PodsReady"):
            self._export(workload, closed=now)
        self._notes.pop(workload.metadata.key, None)

    def _export(
        self,
        workload: Workload,
        *,
        ready: float | None = None,
        placed: Placed = NOT_KNOWN,
        closed: float | None = None,
    ) -> None:
        meta = workload.metadata
        notes = self._notes.pop(meta.key, None) or _Notes()
        if not self.keeps(meta):
            return
        requeued = workload.status.true_condition("Requeued")
        admission = workload.status.admission
        told = Round(
            uid=meta.uid,
            workload=meta.key,
            queued=requeued.changed if requeued is not None else meta.created,
            number=_evictions(workload),
            reserved=workload.status.true_since("QuotaReserved"),
            admitted=workload.status.true_since("Admitted"),
            placed=placed,
            ready=ready,
            closed=closed,
            attributes={
                "k8s.namespace.name": meta.namespace,
                "queueing.cluster_queue": admission.cluster_queue if admission else "",
                "queueing.local_queue": workload.spec.queue_name,
            },
            reasons=tuple(notes.reasons),
            attempts=tuple(notes.attempts),
            victims=tuple(notes.victims),
            steps=tuple(notes.steps),
            traceparent=meta.traceparent,
        )
        self._tracer.export(plan_spans(told))

    def _export_cycle(self, cycle: Cycle, took_s: float) -> None:
        if not self._tracer.keeps_trace(cycle_of(self._origin, cycle.number).trace_id):
            return
        counts = Counter(type(one).__name__.lower() for one in cycle.decisions)
        told: Attributes = {
            "queueing.cycle": cycle.number,
            **{f"queueing.decisions.{name}": count for name, count in sorted(counts.items())},
        }
        ended = cycle.now + took_s
        timed = Timed(name="cycle", began=cycle.now, ended=ended, attributes=told)
        self._tracer.export([plan_cycle(self._origin, cycle.number, timed)])

    def _attempt(self, key: Key, cycle: Cycle, failure: str) -> None:
        attempt = Timed(
            name="attempt",
            began=cycle.now,
            ended=cycle.now,
            attributes={"queueing.cycle": cycle.number},
            failure=failure,
            links=(cycle_of(self._origin, cycle.number),),
        )
        _keep(self._of(key).attempts, attempt)

    def _of(self, key: Key) -> _Notes:
        notes = self._notes.get(key)
        if notes is None:
            notes = self._notes[key] = _Notes()
            if len(self._notes) > WORKLOADS_MAX:
                del self._notes[next(iter(self._notes))]
        return notes


def trace_of(meta: Meta) -> str:
    """Return the id of a Workload's trace."""
    return trace_id_of(meta.uid, meta.traceparent)


def _victim(told: Left) -> Timed:
    link = eviction_of(told.workload.uid, told.number, told.traceparent)
    return replace(told.timed, name="victim", links=(link,))


def _place_of(victim: Key, victims: Sequence[Timed]) -> int | None:
    """Return the index of the last note of a victim, which may have been chosen more than once."""
    places = reversed(range(len(victims)))
    named = (one for one in places if victims[one].attributes.get("queueing.victim") == victim)
    return next(named, None)


def _keep(kept: list[T], one: T) -> None:
    """Append to a list; when it is full, the new element replaces the last one."""
    if len(kept) >= NOTES_MAX:
        kept.pop()
    kept.append(one)


def _evictions(workload: Workload) -> int:
    stats = workload.status.scheduling_stats
    return sum(one.count for one in stats.evictions) if stats is not None else 0
