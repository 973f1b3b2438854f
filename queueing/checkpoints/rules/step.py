"""From one record to the next: `step` applies an event, `due` returns the event due by time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from queueing.checkpoints.rules.phases import TERMINAL, TRANSITIONS, Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome
from queueing.checkpoints.rules.terms import HEARTBEATS_MISSED, OnFailure

NOTICES_MAX = 4
"""How often delivering a notice is tried: at once, and again after 1, 2 and 4 seconds."""
SPARED_MAX = 2
"""How many victims that did not save are spared for one preemptor; the next one is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event with its data."""

    event: RequestEvent
    message: str = ""
    asked: tuple[str, ...] = ()
    saved: Saved | None = None
    delay_s: float = 0.0
    progress: bool = True
    """Whether a heartbeat reported progress: only these extend the time to save."""


def step(record: Record, happening: Happening, now: float) -> Record | None:
    """Return the record after an event; None if the event changes nothing in its phase."""
    after = TRANSITIONS.get((record.phase, happening.event))
    if after is None:
        return None
    moved = replace(record, phase=after, message=happening.message or record.message)
    effect = _EFFECTS.get(happening.event)
    if effect is not None:
        moved = effect(moved, happening, now)
    if after in TERMINAL:
        moved = replace(moved, ended_at=now)
    if after is Phase.SUSPENDING and record.phase is not Phase.SUSPENDING:
        moved = replace(moved, suspended_at=now, kill_by=now + moved.request.terms.grace_s)
    return moved


def settle(record: Record, now: float, *, spared_before: int = 0) -> Record:
    """Apply all events that are due by time or terms; return the record after them."""
    while True:
        happening = due(record, now, spared_before=spared_before)
        if happening is None:
            return record
        moved = step(record, happening, now)
        if moved is None:
            raise AssertionError(f"{happening.event} is due in {record.phase}, which has no such")
        record = moved


def due(record: Record, now: float, *, spared_before: int = 0) -> Happening | None:
    """Return the event that is due by time or terms alone; None if there is none.

    `spared_before` is how many victims were spared for the same preemptor.
    """
    match record.phase:
        case Phase.SELECTED if record.asks_nobody:
            return Happening(event=RequestEvent.NOT_ASKED, message="no time is left to save")
        case Phase.SAVED:
            return Happening(event=RequestEvent.STOP)
        case Phase.UNRESPONSIVE | Phase.FAILED:
            event = RequestEvent.SPARE if _spares(record, spared_before) else RequestEvent.STOP
            return Happening(event=event)
        case _:
            pass
    for at, event, message in _deadlines(record):
        if at <= now:
            return Happening(event=event, message=message)
    return None


def look_again_at(record: Record) -> float | None:
    """Return the next time at which something may be due; None if there is none."""
    times = [at for at, _, _ in _deadlines(record)]
    if record.phase is Phase.SUSPENDING:
        force = force_at(record)
        times += [force] if force is not None else []
    return min(times, default=None)


def force_at(record: Record) -> float | None:
    """Return when pods that still exist are removed by force; None for never."""
    after = record.request.terms.force_after_s
    if after is None or record.kill_by is None:
        return None
    return record.kill_by + after


def notice_due_at(record: Record) -> float:
    """Return when the notice is to be delivered: at once, then after 1, 2 and 4 seconds."""
    begun = record.resume_at if record.resume_at is not None else record.request.requested_at
    return begun + (2.0**record.attempts - 1.0)


def notice_failed(record: Record, message: str) -> Record:
    """Count an attempt to deliver the notice that failed."""
    return replace(record, attempts=record.attempts + 1, message=message)


def _deadlines(record: Record) -> list[tuple[float, RequestEvent, str]]:
    terms = record.request.terms
    match record.phase:
        case Phase.SELECTED:
            said = f": {record.message}" if record.message else ""
            return [
                (record.ack_by, RequestEvent.ACK_OVERDUE, f"the notice was not delivered{said}")
            ]
        case Phase.NOTIFIED:
            message = f"no answer within {terms.ack_s:g}s"
            return [(record.ack_by, RequestEvent.ACK_OVERDUE, message)]
        case Phase.SAVING:
            patience_s = HEARTBEATS_MISSED * terms.heartbeat_s
            heard = record.heard_at if record.heard_at is not None else record.request.requested_at
            save_by = record.save_by if record.save_by is not None else record.request.save_by
            return [
                (save_by, RequestEvent.SAVE_OVERDUE, "saving took longer than its deadline"),
                (heard + patience_s, RequestEvent.SILENCE, f"no heartbeat for {patience_s:g}s"),
            ]
        case Phase.REFUSED:
            resume_at = record.resume_at if record.resume_at is not None else record.request.ack_by
            return [(resume_at, RequestEvent.DELAY_OVER, "asked again")]
        case _:
            return []


def _spares(record: Record, spared_before: int) -> bool:
    """Say whether a workload that did not save is spared; only a preempted one can be."""
    if record.request.cause.reason != "Preempted":
        return False
    match record.request.terms.on_failure:
        case OnFailure.PROCEED:
            return False
        case OnFailure.TRY_OTHER_VICTIM:
            return spared_before < SPARED_MAX
        case OnFailure.ABORT:
            return True


def _notified(record: Record, happening: Happening, now: float) -> Record:
    return replace(record, asked=happening.asked, notified_at=now)


def _accepted(record: Record, _: Happening, now: float) -> Record:
    save_by = min(now + record.request.terms.save_s, record.request.save_by)
    return replace(record, accepted_at=now, heard_at=now, save_by=save_by)


def _heard(record: Record, happening: Happening, now: float) -> Record:
    terms, save_by = record.request.terms, record.save_by
    if happening.progress and save_by is not None and record.accepted_at is not None:
        longest = min(record.accepted_at + terms.save_max_s, record.request.save_by)
        extended = now + HEARTBEATS_MISSED * terms.heartbeat_s
        save_by = min(max(save_by, extended), max(longest, save_by))
    return replace(record, heard_at=now, save_by=save_by)


def _refused(record: Record, happening: Happening, now: float) -> Record:
    request = record.request
    delay_s = min(max(happening.delay_s, 0.0), request.terms.refusal_delay_s)
    resume_at = min(now + delay_s, max(now, request.save_by))
    return replace(record, refusals=record.refusals + 1, resume_at=resume_at, attempts=0)


def _saved(record: Record, happening: Happening, now: float) -> Record:
    saved = happening.saved or Saved()
    stamped = saved if saved.at is not None else replace(saved, at=now)
    return replace(record, outcome=SaveOutcome.SAVED, saved=stamped)


def _ended_as(outcome: SaveOutcome) -> Callable[[Record, Happening, float], Record]:
    def effect(record: Record, _: Happening, __: float) -> Record:
        return replace(record, outcome=outcome)

    return effect


_EFFECTS: Mapping[RequestEvent, Callable[[Record, Happening, float], Record]] = MappingProxyType(
    {
        RequestEvent.NOTICE_DELIVERED: _notified,
        RequestEvent.NOTICE_LOST: _ended_as(SaveOutcome.UNRESPONSIVE),
        RequestEvent.NOT_ASKED: _ended_as(SaveOutcome.NOT_ASKED),
        RequestEvent.ACCEPTED: _accepted,
        RequestEvent.HEARD: _heard,
        RequestEvent.REFUSED: _refused,
        RequestEvent.REFUSED_TOO_OFTEN: _ended_as(SaveOutcome.FAILED),
        RequestEvent.SAVED: _saved,
        RequestEvent.FAILED: _ended_as(SaveOutcome.FAILED),
        RequestEvent.SILENCE: _ended_as(SaveOutcome.FAILED),
        RequestEvent.SAVE_OVERDUE: _ended_as(SaveOutcome.FAILED),
        RequestEvent.ACK_OVERDUE: _ended_as(SaveOutcome.UNRESPONSIVE),
    }
)
