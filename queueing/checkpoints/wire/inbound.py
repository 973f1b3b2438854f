"""CheckpointPolicy → terms; Checkpoint → record."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Command, Driver, Endpoint, OnFailure, Terms, TermsFault
from queueing.checkpoints.rules.terms import faults as core_faults
from queueing.checkpoints.wire import objects as wire
from queueing.translate.problems import Problems
from queueing.translate.selectors import selector
from queueing.translate.times import seconds
from queueing_api.config.duration import seconds_of

_LEADER = "Leader"
"""Value of `answerFrom`: only the pods that the selector `leader` chooses are asked."""


class BadTermsError(ValueError):
    """Terms that cannot be used; the message names the field."""


def terms(found: wire.Terms) -> Terms:
    """Read terms. Raises BadTermsError."""
    try:
        made = _asked(found)
    except ValueError as error:
        raise BadTermsError(f"spec: {error}") from error
    wrong = next(_faults(found, made), None)
    if wrong is not None:
        raise BadTermsError(str(wrong))
    problems = Problems()
    leader = selector(found.leader, "spec.leader", problems)
    if problems.text():
        raise BadTermsError(problems.text())
    return replace(made, leader=leader) if found.answer_from == _LEADER else made


def _faults(found: wire.Terms, made: Terms) -> Iterator[TermsFault]:
    if found.answer_from == _LEADER and found.leader is None:
        yield TermsFault("leader", "answerFrom Leader needs leader, a selector of pods")
    yield from core_faults(made)


def _asked(found: wire.Terms) -> Terms:
    """Read terms as if the answers of all pods counted."""
    return Terms(
        driver=Driver(found.driver),
        ack_s=seconds_of(found.ack_deadline),
        save_s=seconds_of(found.save_deadline),
        save_max_s=seconds_of(found.save_deadline_max or found.save_deadline),
        heartbeat_s=seconds_of(found.heartbeat),
        fresh_s=seconds_of(found.fresh_enough),
        grace_s=seconds_of(found.termination_grace),
        force_after_s=_perhaps(found.force_delete_after),
        refusal_limit=found.refusal_limit,
        refusal_delay_s=seconds_of(found.refusal_delay_max),
        on_failure=OnFailure(found.on_failure),
        minimum_runtime_s=seconds_of(found.minimum_runtime),
        idle_after_s=_perhaps(found.idle_after),
        movable=found.movable,
        http=Endpoint(port=found.http.port, path=found.http.path) if found.http else None,
        job=bytes(found.job.template) if found.job else b"",
        command=_command(found.command),
    )


def _perhaps(text: str | None) -> float | None:
    return seconds_of(text) if text else None


def _command(found: wire.ExecCommand | None) -> Command | None:
    if found is None:
        return None
    return Command(words=tuple(found.command), container=found.container)


def record(found: wire.Checkpoint) -> Record:
    """Read a Checkpoint. Raises BadTermsError when its terms cannot be used."""
    spec, status = found.spec, found.status
    request = SaveRequest(
        request_id=spec.request_id,
        epoch=spec.epoch,
        cause=StopCause(spec.reason, spec.preemptor),
        terms=terms(spec.terms),
        requested_at=_at(spec.requested_at),
        ack_by=_at(spec.ack_by),
        save_by=_at(spec.save_by),
    )
    return Record(
        request=request,
        phase=Phase(status.phase),
        message=status.message,
        outcome=SaveOutcome(status.outcome) if status.outcome else None,
        asked=tuple(status.asked),
        attempts=status.attempts,
        refusals=status.refusals,
        notified_at=seconds(status.notified_at),
        accepted_at=seconds(status.accepted_at),
        save_by=seconds(status.save_by),
        heard_at=seconds(status.heard_at),
        resume_at=seconds(status.resume_at),
        suspended_at=seconds(status.suspended_at),
        kill_by=seconds(status.kill_by),
        ended_at=seconds(status.ended_at),
        saved=_saved(status.checkpoint),
    )


def _saved(found: wire.SavedWork | None) -> Saved | None:
    if found is None:
        return None
    return Saved(uri=found.uri, step=found.step, size=found.size, at=seconds(found.at), by=found.by)


def _at(moment: datetime) -> float:
    return moment.timestamp()
