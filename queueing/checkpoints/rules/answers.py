"""Combines the answers of a workload's pods into one event: all of them save together.

The work is saved when every pod whose answer counts has said so. It is lost when one of them has
failed, or has ended without having saved.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from queueing.checkpoints.rules.phases import Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, Saved
from queueing.checkpoints.rules.step import Happening

URI = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:|/)[!-~]{1,1023}$")
"""A URI with a scheme, or an absolute path; without blanks."""


class Word(StrEnum):
    """The kinds of answers of a pod."""

    ACCEPTED = "Accepted"
    HEARTBEAT = "Heartbeat"
    SAVED = "Saved"
    ALREADY_FRESH = "AlreadyFresh"
    REFUSED = "Refused"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveAnswer:
    """One pod's answer to one request."""

    request_id: str
    epoch: int
    word: Word
    message: str = ""
    uri: str = ""
    step: int | None = None
    size: int | None = None
    at: float | None = None
    """When its checkpoint was made."""
    progress: float | None = None
    beat: str = ""
    """Any text that differs from one heartbeat to the next, such as a time of any clock."""
    delay_s: float = 0.0


class PodState(StrEnum):
    """Whether a pod can still answer."""

    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    LOST = "Lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A pod whose answer counts, with its answer so far."""

    condition: PodState
    answer: SaveAnswer | None = None
    kind: str = "pod"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The heartbeats and the progress of the pods when all of them were last heard."""

    beats: tuple[tuple[str, str], ...] = ()
    progress: float | None = None


def belongs(answer: SaveAnswer, record: Record) -> bool:
    """Say whether an answer is to this request; any other is ignored.

    Answers that work is saved count also if they are to an earlier asking of the same request.
    """
    request = record.request
    asked = {record.asking_id}
    if answer.word in {Word.SAVED, Word.ALREADY_FRESH}:
        asked |= {replace(record, refusals=one).asking_id for one in range(record.refusals)}
    return answer.request_id in asked and answer.epoch == request.epoch


def combine(
    record: Record, voices: Mapping[str, Voice], before: Heard
) -> tuple[Happening | None, Heard]:
    """Return the event that the answers of all pods make together, if any, and what was heard."""
    said = {
        name: voice.answer
        for name, voice in sorted(voices.items())
        if voice.answer is not None and belongs(voice.answer, record)
    }
    ended = {name for name, voice in voices.items() if voice.condition is PodState.SUCCEEDED}
    done = {name for name, one in said.items() if _is_done(one, record)} | ended
    for name, voice in sorted(voices.items()):
        answer = said.get(name)
        if answer is not None and answer.word is Word.FAILED:
            return Happening(
                event=RequestEvent.FAILED, message=_told(f"{voice.kind} {name}", answer)
            ), before
        if voice.condition is PodState.LOST and name not in done:
            message = f"{voice.kind} {name} ended before it had saved"
            return Happening(event=RequestEvent.FAILED, message=message), before
    if voices and done == set(voices):
        return _saved(said), before
    if record.phase is Phase.SAVING:
        return _heartbeat(said, before)
    return _first_answer(record, voices, said), _heard(said)


def _first_answer(
    record: Record, voices: Mapping[str, Voice], said: Mapping[str, SaveAnswer]
) -> Happening | None:
    if record.phase is not Phase.NOTIFIED:
        return None
    refusals = [one for one in said.values() if one.word is Word.REFUSED]
    if refusals:
        spent = record.refusals >= record.request.terms.refusal_limit
        return Happening(
            event=RequestEvent.REFUSED_TOO_OFTEN if spent else RequestEvent.REFUSED,
            message=next(
                (one.message for one in refusals if one.message), "asked for a later time"
            ),
            delay_s=max(one.delay_s for one in refusals),
        )
    running = {name for name, voice in voices.items() if voice.condition is PodState.RUNNING}
    if running - said.keys() or not said:
        return None
    return Happening(event=RequestEvent.ACCEPTED, message="the pods save their work")


def _heartbeat(said: Mapping[str, SaveAnswer], before: Heard) -> tuple[Happening | None, Heard]:
    """Return a heartbeat of all pods together, once each pod that saves has sent a new one."""
    heard, known = _heard(said), dict(before.beats)
    if not heard.beats or any(known.get(name) == beat for name, beat in heard.beats):
        return None, before
    further = heard.progress is not None and heard.progress > (before.progress or 0.0)
    return Happening(event=RequestEvent.HEARD, progress=further), heard


def _is_done(answer: SaveAnswer, record: Record) -> bool:
    if answer.word is Word.SAVED:
        return True
    if answer.word is not Word.ALREADY_FRESH:
        return False
    request = record.request
    return answer.at is not None and answer.at >= request.requested_at - request.terms.fresh_s


def _saved(said: Mapping[str, SaveAnswer]) -> Happening:
    """Combine what the pods saved: the URI of the first pod that has one, the smallest step."""
    leading = next(((name, one) for name, one in said.items() if URI.match(one.uri)), None)
    name, leader = leading or next(iter(said.items()), ("", None))
    steps = [one.step for one in said.values() if one.step is not None]
    sizes = [one.size for one in said.values() if one.size is not None]
    saved = Saved(
        uri=leader.uri if leading and leader else "",
        step=min(steps, default=None),
        size=sum(sizes) if sizes else None,
        at=leader.at if leader else None,
        by=name,
    )
    unusable = next((one.uri for one in said.values() if one.uri and not URI.match(one.uri)), "")
    if unusable and not leading:
        return Happening(
            event=RequestEvent.SAVED,
            saved=saved,
            message=f"saved, but {unusable[:200]!r} is no URI",
        )
    return Happening(event=RequestEvent.SAVED, saved=saved, message="the work is saved")


def _heard(said: Mapping[str, SaveAnswer]) -> Heard:
    saving = {
        name: one for name, one in said.items() if one.word in {Word.ACCEPTED, Word.HEARTBEAT}
    }
    told = [one.progress for one in saving.values() if one.progress is not None]
    beats = tuple((name, one.beat) for name, one in saving.items())
    return Heard(beats=beats, progress=min(told, default=None))


def _told(name: str, answer: SaveAnswer) -> str:
    return f"{name} failed to save" + (f": {answer.message[:500]}" if answer.message else "")
