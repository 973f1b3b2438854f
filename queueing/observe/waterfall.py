"""Where the time of a workload went, told from objects alone: phases that follow each other.

Objects store whole seconds, and only the last change of each condition. What happened before the
workload came back to its queue is told by Events and Checkpoints, as far as they still exist.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from queueing.translate.wire.workloads import Workload

RESOLUTION_S = 1.0
"""What objects store of a moment: two in different seconds may be a millisecond apart."""
WAITING = frozenset({"QuotaReserved", "Admitted"})
"""Reasons of Events of a Workload that say that it does not wait any more."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An Event: when it was first seen, its reason, and its words for people."""

    at: float
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of time in epoch seconds; one that goes on has no end.

    `inside` are its parts, in the order in which they began.
    """

    name: str
    began: float
    ended: float | None = None
    happened: tuple[Happening, ...] = ()
    inside: tuple["Phase", ...] = ()


@dataclass(frozen=True, slots=True)
class SeenPod:
    """Moments of a pod, as far as it got: created, scheduled, ready."""

    created: float
    scheduled: float | None = None
    ready: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWorkload:
    """What is known of a workload; the parts that could not be read are empty.

    `submitted` is the creation of its job, `happenings` the Events of the Workload, `unsuspended`
    when its job was started. `evictions` tell requests to save its work, `victims` who had to go
    for it, `claims` how long its devices took.
    """

    workload: Workload
    submitted: float | None = None
    unsuspended: float | None = None
    happenings: tuple[Happening, ...] = ()
    evictions: tuple[Phase, ...] = ()
    victims: tuple[Phase, ...] = ()
    claims: tuple[Phase, ...] = ()
    pods: tuple[SeenPod, ...] = ()


def waterfall(seen: SeenWorkload) -> Phase:
    """Return all phases as one, from the creation of the job until the end of the workload.

    Its parts follow each other without a gap. The last one has no end if it goes on.
    """
    parts = tuple(_joined(_phases(seen)))
    return Phase(name="workload", began=parts[0].began, ended=parts[-1].ended, inside=parts)


def until_ready(whole: Phase) -> float | None:
    """Return the seconds from the beginning until all pods were ready; None if they are not."""
    ends = [one.ended for one in whole.inside if one.name == "pods ready"]
    return ends[-1] - whole.began if ends and ends[-1] is not None else None


def _joined(phases: Iterable[Phase]) -> Iterator[Phase]:
    """Let each phase begin where the one before it ends, up to the first one that goes on.

    Stored moments are whole seconds, so that one may seem earlier than the one before it.
    """
    cursor: float | None = None
    for one in phases:
        began = one.began if cursor is None else cursor
        cursor = None if one.ended is None else max(began, one.ended)
        yield replace(one, began=began, ended=cursor)
        if cursor is None:
            return


def _phases(seen: SeenWorkload) -> Iterator[Phase]:
    """Yield what followed what; where a phase begins is where the one before it ends."""
    workload = seen.workload
    created, status = workload.metadata.created, workload.status
    if seen.submitted is not None and created - seen.submitted > RESOLUTION_S:
        yield Phase(name="submitted", began=seen.submitted, ended=created)
    finished, evicted = status.true_since("Finished"), status.true_since("Evicted")
    reserved = status.true_since("QuotaReserved")
    gave_back = status.changed("QuotaReserved") if evicted is not None else None
    returned = gave_back if reserved is None and gave_back is not None else created
    queued = max(workload.queued_since, returned, created)
    if queued > created or status.is_true("Requeued"):
        yield _earlier(seen, created, queued)
    waited = reserved if reserved is not None else finished
    yield Phase(
        name="queued" if workload.spec.active else "stopped",
        began=queued,
        ended=waited,
        happened=_between(seen.happenings, queued, waited),
        inside=_preemption(_since(seen.victims, queued)),
    )
    if reserved is None:
        return
    admitted = status.true_since("Admitted")
    if admitted != reserved:
        yield Phase(
            name="admission checks",
            began=reserved,
            ended=admitted if admitted is not None else finished,
            inside=tuple(_checks(workload, reserved)),
        )
    if admitted is not None:
        yield from _started(seen, admitted, finished if finished is not None else evicted)
    if evicted is not None:
        current = tuple(one for one in seen.evictions if one.ended is None or one.ended >= evicted)
        yield Phase(name="eviction", began=evicted, ended=finished, inside=current)


def _earlier(seen: SeenWorkload, created: float, queued: float) -> Phase:
    """Return all that happened before the workload came back to its queue."""
    evictions = (one for one in seen.evictions if one.began < queued)
    return Phase(
        name="earlier rounds",
        began=created,
        ended=queued,
        happened=_between(seen.happenings, created, queued),
        inside=tuple(sorted(evictions, key=lambda one: one.began)),
    )


def _started(seen: SeenWorkload, admitted: float, over: float | None) -> Iterator[Phase]:
    """Yield what came of an admission; `over` is when its run ended, None if it has not."""
    pods = [one for one in seen.pods if one.created >= admitted - 1.0]
    ready = seen.workload.status.true_since("PodsReady")
    if ready is None and pods:
        ready = _all_of([one.ready for one in pods])
    made = min((one.created for one in pods), default=None)
    asked = made if made is not None else admitted
    unsuspended = seen.unsuspended if seen.unsuspended is not None else made
    steps = (
        ("start", unsuspended),
        ("pods created", made),
        ("pods scheduled", _all_of([one.scheduled for one in pods])),
        ("pods ready", ready),
        ("running", over),
    )
    reached = {name: at for name, at in steps if at is not None}
    for place, (name, at) in enumerate(steps):
        later = any(other in reached for other, _ in steps[place + 1 :])
        inside = _claims(seen.claims, asked) if name == "pods scheduled" else ()
        if at is not None:
            yield Phase(name=name, began=admitted, ended=at, inside=inside)
        elif not later:
            yield Phase(name=name, began=admitted, ended=None, inside=inside)
            return


def _claims(claims: Iterable[Phase], asked: float) -> tuple[Phase, ...]:
    """Return how long the pods' claims took as one phase, with each of them in it.

    `asked` is when there were pods: claims that had their devices before are left out, and what
    others waited before is not counted.
    """
    told = tuple(
        replace(one, began=max(one.began, asked))
        for one in claims
        if one.ended is None or one.ended >= asked
    )
    if not told:
        return ()
    ends = _all_of([one.ended for one in told])
    return (Phase(name="claims", began=min(one.began for one in told), ended=ends, inside=told),)


def _since(phases: Iterable[Phase], moment: float) -> tuple[Phase, ...]:
    """Return the phases that began since a moment, which is stored in whole seconds."""
    return tuple(one for one in phases if one.began >= moment - 1.0)


def _checks(workload: Workload, reserved: float) -> Iterator[Phase]:
    for one in workload.status.admission_checks:
        changed = one.last_transition_time
        done = one.state == "Ready" and changed is not None
        ended = max(reserved, changed.timestamp()) if done and changed is not None else None
        told = (Happening(ended or reserved, one.state, one.message),) if one.message else ()
        yield Phase(name=one.name, began=reserved, ended=ended, happened=told)


def _preemption(victims: Sequence[Phase]) -> tuple[Phase, ...]:
    """Return the preemption for a workload, with each victim in it; nothing if there was none."""
    if not victims:
        return ()
    ends = _all_of([one.ended for one in victims])
    began = min(one.began for one in victims)
    ordered = tuple(sorted(victims, key=lambda one: (one.began, one.name)))
    return (Phase(name="preemption", began=began, ended=ends, inside=ordered),)


def _all_of(moments: Sequence[float | None]) -> float | None:
    """Return the last of some moments; None if one is not known, or there are none."""
    known = [one for one in moments if one is not None]
    return max(known) if known and len(known) == len(moments) else None


def _between(
    happenings: Iterable[Happening], began: float, ended: float | None
) -> tuple[Happening, ...]:
    """Return the Events of a period, but what says that waiting was over, and repetitions."""
    kept: list[Happening] = []
    for one in sorted(happenings, key=lambda each: each.at):
        inside = began - 1.0 <= one.at and (ended is None or one.at <= ended + 1.0)
        told = kept and (kept[-1].reason, kept[-1].message) == (one.reason, one.message)
        if inside and one.reason not in WAITING and not told:
            kept.append(one)
    return tuple(kept)
