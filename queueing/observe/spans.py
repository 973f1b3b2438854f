"""How an admission is told as spans, planned after the fact from stored moments.

One workload has one trace: its submitter's, if it was handed over as a `traceparent`, else one of
its own. Each wait for quota, the first and every one after a requeueing, is a *round* with an
`admission` span over all of it; the span of the first round is the root of our part. Ids follow
from the workload's UID, so that another replica adds to the same trace.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from queueing.observe.trace_ids import SpanRef, parse_traceparent, span_id_of, trace_id_of

AttributeValue = str | int | float | bool
Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened at a moment, epoch seconds."""

    at: float
    name: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Something that took from `began` to `ended`, epoch seconds; `failure` says why in vain.

    `inside` are its parts, `links` spans of other traces that it has to do with.
    """

    name: str
    began: float
    ended: float
    attributes: Attributes = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    failure: str = ""
    inside: tuple["Timed", ...] = ()
    links: tuple[SpanRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """How the pods of a workload got their nodes, epoch seconds; None where it is not known.

    `scheduled` is when the last pod got its node. Of the `claims` that they use, in number, the
    first was made at `claimed`, and the last got its devices at `allocated`.
    """

    scheduled: float | None = None
    claims: int = 0
    claimed: float | None = None
    allocated: float | None = None


NOT_KNOWN = Placed()


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What is known of one round of a workload; moments are epoch seconds, None if not reached.

    `number` counts the requeueings. `reasons` are the changes of why it waited. `attempts` are the
    cycles that judged it, `victims` the workloads that had to go, with a note for each step,
    `steps` what followed the decision: the status write, the unsuspension. `closed` is the end of a
    round that never got to ready pods. `placed` is how the pods got their nodes. `traceparent` is
    the submitter's.
    """

    uid: str
    workload: str
    queued: float
    number: int = 0
    reserved: float | None = None
    admitted: float | None = None
    placed: Placed = NOT_KNOWN
    ready: float | None = None
    closed: float | None = None
    attributes: Attributes = field(default_factory=dict)
    reasons: tuple[Note, ...] = ()
    attempts: tuple[Timed, ...] = ()
    victims: tuple[Timed, ...] = ()
    steps: tuple[Timed, ...] = ()
    traceparent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlan:
    """One span as it is to be exported."""

    ref: SpanRef
    parent: SpanRef | None
    timed: Timed
    links: tuple[SpanRef, ...] = ()


def root_of(uid: str, traceparent: str = "") -> SpanRef:
    """Return the root span of a workload: the parent to hand to pods and API requests."""
    return _Place(uid, traceparent, 0, ("admission",)).ref


def plan_spans(told: Round) -> tuple[SpanPlan, ...]:
    """Return the spans of all in the round that has an end, parents before children.

    The covering span comes only with a round that is over, so that it is exported once.
    """
    return tuple(_plan(told))


EVICTION = "eviction"


def eviction_of(uid: str, number: int, traceparent: str = "") -> SpanRef:
    """Return the span of a workload's eviction, the first being number 1."""
    return _Place(uid, traceparent, number, (EVICTION,)).ref


def plan_eviction(
    uid: str, number: int, told: Timed, traceparent: str = ""
) -> tuple[SpanPlan, ...]:
    """Return the spans of an eviction of a workload, beneath the root of its trace."""
    place = _Place(uid, traceparent, number, ())
    parts = tuple(place.whole(replace(told, name=EVICTION)))
    return (replace(parts[0], parent=root_of(uid, traceparent)), *parts[1:])


CYCLE = "cycle"


def cycle_of(origin: str, number: int) -> SpanRef:
    """Return the span of a cycle of decisions, in a trace of its own.

    `origin` names the process that decided, in one of its lives.
    """
    return _Place(f"{CYCLE} {number} of {origin}", "", number, (CYCLE,)).ref


def plan_cycle(origin: str, number: int, told: Timed) -> SpanPlan:
    """Return the span of a cycle."""
    return SpanPlan(ref=cycle_of(origin, number), parent=None, timed=replace(told, name=CYCLE))


def _plan(told: Round) -> Iterator[SpanPlan]:
    whole = _Place(told.uid, told.traceparent, told.number, ("admission",))
    end = told.ready if told.ready is not None else told.closed
    if end is not None:
        attributes: Attributes = {"queueing.workload": told.workload, "queueing.round": told.number}
        first = parse_traceparent(told.traceparent)
        yield SpanPlan(
            ref=whole.ref,
            parent=first if told.number == 0 else root_of(told.uid, told.traceparent),
            timed=_timed(
                "admission", told.queued, end, attributes={**attributes, **told.attributes}
            ),
        )
    yield from _plan_waiting(told, whole)
    if told.reserved is not None and told.admitted is not None and told.admitted > told.reserved:
        yield whole.child(_timed("admission checks", told.reserved, told.admitted))
    for index, step in enumerate(told.steps):
        yield whole.child(step, str(index))
    started = max((step.ended for step in told.steps), default=told.admitted)
    if started is not None and told.ready is not None:
        if told.placed.scheduled is not None:
            yield whole.child(_timed("pods scheduled", started, told.placed.scheduled))
            yield from _plan_claims(told.placed, started, whole.inside("pods scheduled"))
            started = max(started, told.placed.scheduled)
        yield whole.child(_timed("pods ready", started, told.ready))


def _plan_claims(placed: Placed, started: float, scheduling: "_Place") -> Iterator[SpanPlan]:
    """Plan how long the pods' claims took until all had their devices.

    Pods may share a claim that was made long before them.
    """
    if placed.claimed is not None and placed.allocated is not None:
        counted: Attributes = {"queueing.claims": placed.claims}
        began = max(started, placed.claimed)
        yield scheduling.child(_timed("claims", began, placed.allocated, attributes=counted))


def _plan_waiting(told: Round, whole: "_Place") -> Iterator[SpanPlan]:
    """Plan the wait for quota, with what was tried and who was preempted inside it."""
    end = told.reserved if told.reserved is not None else told.closed
    queued = whole.inside("queued")
    if end is not None:
        yield whole.child(_timed("queued", told.queued, end, notes=told.reasons))
    for index, attempt in enumerate(told.attempts):
        yield queued.child(attempt, str(index))
    if told.victims:
        began = min(victim.began for victim in told.victims)
        ended = max(victim.ended for victim in told.victims)
        counted: Attributes = {"queueing.victims": len(told.victims)}
        yield queued.child(_timed("preemption", began, ended, attributes=counted))
        preemption = queued.inside("preemption")
        for index, victim in enumerate(told.victims):
            yield from preemption.whole(victim, str(index))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the trace a span stands; its id follows from that."""

    uid: str
    traceparent: str
    number: int
    path: tuple[str, ...]

    @property
    def ref(self) -> SpanRef:
        trace_id = trace_id_of(self.uid, self.traceparent)
        return SpanRef(trace_id, span_id_of(self.uid, str(self.number), *self.path))

    def inside(self, *path: str) -> "_Place":
        return replace(self, path=(*self.path, *path))

    def child(self, timed: Timed, *more: str) -> SpanPlan:
        place = self.inside(timed.name, *more)
        return SpanPlan(ref=place.ref, parent=self.ref, timed=timed, links=timed.links)

    def whole(self, timed: Timed, *more: str) -> Iterator[SpanPlan]:
        """Plan something with all of its parts."""
        yield self.child(timed, *more)
        place = self.inside(timed.name, *more)
        for index, part in enumerate(timed.inside):
            yield from place.whole(part, str(index))


def _timed(
    name: str,
    began: float,
    ended: float,
    *,
    attributes: Attributes | None = None,
    notes: tuple[Note, ...] = (),
) -> Timed:
    """Make a span of two moments; stored ones are whole seconds, so that the end may seem early."""
    return Timed(
        name=name,
        began=began,
        ended=max(began, ended),
        attributes=attributes or {},
        notes=notes,
    )
