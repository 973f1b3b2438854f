from dataclasses import replace

import pytest

from queueing.checkpoints.rules.answers import Heard, PodState, SaveAnswer, Voice, Word, combine
from queueing.checkpoints.rules.phases import (
    DUTIES,
    HOLDS_THE_STOP,
    TERMINAL,
    TRANSITIONS,
    Duty,
    Phase,
    RequestEvent,
)
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.step import (
    NOTICES_MAX,
    Happening,
    due,
    force_at,
    look_again_at,
    notice_due_at,
    notice_failed,
    settle,
    step,
)
from queueing.checkpoints.rules.terms import Driver, OnFailure, Terms

NOW = 1000.0
TERMS = Terms(driver=Driver.ANNOTATION, ack_s=20, save_s=100, save_max_s=200, heartbeat_s=10)


def record(phase: Phase = Phase.SELECTED, terms: Terms = TERMS, **more: object) -> Record:
    cause = StopCause("Preempted", "uid-of-the-preemptor")
    request = SaveRequest.made("r", 1, cause, terms=terms, now=NOW)
    made = Record(request=request)
    if phase in (Phase.NOTIFIED, Phase.SAVING):
        made = happen(made, RequestEvent.NOTICE_DELIVERED, asked=("a", "b"))
    if phase is Phase.SAVING:
        made = happen(made, RequestEvent.ACCEPTED)
    return replace(made, phase=phase, **more)  # type: ignore[arg-type]


def happen(one: Record, event: RequestEvent, now: float = NOW, **more: object) -> Record:
    moved = step(one, Happening(event=event, **more), now)  # type: ignore[arg-type]
    assert moved is not None
    return moved


@pytest.mark.parametrize(
    ("phase", "event", "after"),
    [pytest.param(*at, after, id=f"{at[0]} {at[1]}") for at, after in TRANSITIONS.items()],
)
def test_every_transition_of_the_table_is_taken(
    phase: Phase, event: RequestEvent, after: Phase
) -> None:
    moved = step(record(phase), Happening(event=event), NOW)
    assert moved is not None
    assert moved.phase is after
    assert (moved.ended_at is None) == (after not in TERMINAL)
    if after is Phase.SUSPENDING and phase is not Phase.SUSPENDING:
        assert (moved.suspended_at, moved.kill_by) == (NOW, NOW + TERMS.grace_s)


def test_who_saves_while_it_is_being_stopped_has_no_more_time_for_that() -> None:
    stopping = happen(record(Phase.SAVED), RequestEvent.STOP)
    late = happen(stopping, RequestEvent.SAVED, now=NOW + 5)
    assert (late.suspended_at, late.kill_by) == (stopping.suspended_at, stopping.kill_by)


def test_the_last_message_stands_until_there_is_another() -> None:
    told = happen(record(Phase.SAVING), RequestEvent.FAILED, message="no room on the disk")
    assert happen(told, RequestEvent.STOP).message == "no room on the disk"


@pytest.mark.parametrize("phase", list(Phase))
def test_what_is_not_in_the_table_changes_nothing(phase: Phase) -> None:
    known = {event for at, event in TRANSITIONS if at is phase}
    for event in set(RequestEvent) - known:
        assert step(record(phase), Happening(event=event), NOW) is None


def test_every_phase_can_end() -> None:
    reach = {
        phase: {after for (at, _), after in TRANSITIONS.items() if at is phase} for phase in Phase
    }
    for phase in Phase:
        seen, new = {phase}, {phase}
        while new:
            new = set().union(*(reach[one] for one in new)) - seen
            seen |= new
        assert seen & TERMINAL


def test_every_phase_has_a_duty_and_what_holds_the_stop_never_stops() -> None:
    assert set(DUTIES) == set(Phase)
    assert all(DUTIES[phase] is not Duty.STOP for phase in HOLDS_THE_STOP)
    assert Phase.SUSPENDING not in HOLDS_THE_STOP


@pytest.mark.parametrize(
    ("phase", "at", "event"),
    [
        pytest.param(
            Phase.SELECTED, NOW + 20, RequestEvent.ACK_OVERDUE, id="a notice never delivered"
        ),
        pytest.param(Phase.NOTIFIED, NOW + 20, RequestEvent.ACK_OVERDUE, id="no answer"),
        pytest.param(Phase.SAVING, NOW + 30, RequestEvent.SILENCE, id="three heartbeats missed"),
    ],
)
def test_time_alone_ends_every_wait(phase: Phase, at: float, event: RequestEvent) -> None:
    waiting = record(phase)
    assert due(waiting, at - 0.1) is None
    assert look_again_at(waiting) == at
    found = due(waiting, at)
    assert found is not None
    assert found.event is event
    assert settle(waiting, at).phase is Phase.SUSPENDING


def test_a_save_that_beats_but_never_ends_is_cut_off() -> None:
    saving = record(Phase.SAVING)
    now = NOW
    while saving.phase is Phase.SAVING:
        now += 5
        assert now < NOW + 500
        moved = step(saving, Happening(event=RequestEvent.HEARD, progress=True), now)
        assert moved is not None
        saving = settle(moved, now)
    assert saving.outcome is SaveOutcome.FAILED
    assert now == pytest.approx(NOW + TERMS.save_max_s, abs=5)


def test_heartbeats_without_progress_keep_alive_but_extend_nothing() -> None:
    saving = happen(record(Phase.SAVING), RequestEvent.HEARD, NOW + 95, progress=False)
    assert saving.heard_at == NOW + 95
    assert saving.save_by == NOW + 100
    extended = happen(saving, RequestEvent.HEARD, NOW + 95, progress=True)
    assert extended.save_by == NOW + 125


@pytest.mark.parametrize(
    ("choice", "spared_before", "reason", "want"),
    [
        pytest.param(OnFailure.PROCEED, 0, "Preempted", Phase.SUSPENDING, id="proceed"),
        pytest.param(OnFailure.TRY_OTHER_VICTIM, 0, "Preempted", Phase.CANCELLED, id="other"),
        pytest.param(OnFailure.TRY_OTHER_VICTIM, 2, "Preempted", Phase.SUSPENDING, id="two spared"),
        pytest.param(OnFailure.ABORT, 9, "Preempted", Phase.CANCELLED, id="abort"),
        pytest.param(OnFailure.ABORT, 0, "ClusterQueueStopped", Phase.SUSPENDING, id="a drain"),
    ],
)
def test_who_could_not_save_stays_only_where_that_is_allowed(
    choice: OnFailure, spared_before: int, reason: str, want: Phase
) -> None:
    terms = replace(TERMS, on_failure=choice)
    failed = record(Phase.FAILED, terms)
    failed = replace(failed, request=replace(failed.request, cause=StopCause(reason, "p")))
    assert settle(failed, NOW, spared_before=spared_before).phase is want


def test_who_refuses_is_asked_again_once_and_the_end_of_patience_does_not_move() -> None:
    asked = record(Phase.NOTIFIED)
    refused = happen(
        asked, RequestEvent.REFUSED, NOW + 5, delay_s=1000.0, message="in a collective"
    )
    assert refused.resume_at == NOW + 5 + TERMS.refusal_delay_s
    again = settle(refused, NOW + 65)
    assert again.phase is Phase.SELECTED
    assert again.ack_by == NOW + 65 + TERMS.ack_s
    assert again.request.save_by == asked.request.save_by
    notified = happen(again, RequestEvent.NOTICE_DELIVERED, NOW + 65, asked=("a",))
    said = answer(Word.REFUSED)
    stale = {"a": Voice(condition=PodState.RUNNING, answer=said)}
    assert combine(notified, stale, Heard())[0] is None, "it was asked once more since"
    anew = replace(said, request_id=notified.asking_id)
    found, _ = combine(notified, {"a": replace(stale["a"], answer=anew)}, Heard())
    assert found is not None
    assert found.event is RequestEvent.REFUSED_TOO_OFTEN


def test_who_refused_and_saves_all_the_same_is_heard_at_once() -> None:
    refused = happen(record(Phase.NOTIFIED), RequestEvent.REFUSED, NOW + 5, delay_s=60.0)
    voices = {"a": Voice(condition=PodState.RUNNING, answer=answer(Word.SAVED))}
    found, _ = combine(refused, voices, Heard())
    assert found is not None
    moved = step(refused, found, NOW + 6)
    assert moved is not None
    assert moved.phase is Phase.SAVED


def test_a_notice_is_tried_after_one_two_and_four_seconds() -> None:
    one = record()
    times = []
    for _ in range(NOTICES_MAX):
        times.append(notice_due_at(one) - NOW)
        one = notice_failed(one, "refused")
    assert times == [0.0, 1.0, 3.0, 7.0]
    assert happen(one, RequestEvent.NOTICE_LOST).outcome is SaveOutcome.UNRESPONSIVE


def test_pods_that_outlive_their_grace_are_forced_only_where_the_terms_say_so() -> None:
    stopping = happen(record(), RequestEvent.NOT_ASKED)
    assert force_at(stopping) is None
    assert look_again_at(stopping) is None
    forced = happen(record(terms=replace(TERMS, force_after_s=30)), RequestEvent.NOT_ASKED)
    assert force_at(forced) == look_again_at(forced) == NOW + 60 + 30


def answer(word: Word, **more: object) -> SaveAnswer:
    return replace(SaveAnswer(request_id="r", epoch=1, word=word), **more)  # type: ignore[arg-type]


def voices(**answers: SaveAnswer | None) -> dict[str, Voice]:
    return {name: Voice(condition=PodState.RUNNING, answer=one) for name, one in answers.items()}


def test_a_gang_saves_behind_one_barrier() -> None:
    saving = record(Phase.SAVING)
    first = answer(Word.SAVED, uri="s3://b/0", step=40, size=5)
    found, _ = combine(saving, voices(a=first, b=answer(Word.HEARTBEAT, beat="1")), Heard())
    assert found is not None
    assert found.event is RequestEvent.HEARD
    second = answer(Word.SAVED, uri="s3://b/1", step=39, size=6)
    found, _ = combine(saving, voices(a=first, b=second), Heard())
    assert found is not None
    assert found.event is RequestEvent.SAVED
    assert found.saved == Saved(uri="s3://b/0", step=39, size=11, at=None, by="a")


def test_a_rank_that_dies_while_saving_fails_the_gang() -> None:
    saved = Voice(condition=PodState.RUNNING, answer=answer(Word.SAVED, uri="s3://b/0"))
    dead = Voice(condition=PodState.LOST, answer=answer(Word.HEARTBEAT, beat="1"))
    found, _ = combine(record(Phase.SAVING), {"a": saved, "b": dead}, Heard())
    assert found is not None
    assert found.event is RequestEvent.FAILED
    assert "pod b" in found.message


def test_a_rank_that_saved_and_ended_has_saved() -> None:
    gone = Voice(condition=PodState.LOST, answer=answer(Word.SAVED, uri="s3://b/0"))
    well = Voice(condition=PodState.SUCCEEDED)
    found, _ = combine(record(Phase.NOTIFIED), {"a": gone, "b": well}, Heard())
    assert found is not None
    assert found.event is RequestEvent.SAVED


@pytest.mark.parametrize(
    "stale",
    [
        pytest.param(answer(Word.SAVED, epoch=0), id="an older epoch"),
        pytest.param(answer(Word.SAVED, request_id="another"), id="another request"),
    ],
)
def test_an_answer_to_another_request_is_ignored(stale: SaveAnswer) -> None:
    found, _ = combine(record(Phase.NOTIFIED), voices(a=stale), Heard())
    assert found is None


def test_an_answer_after_the_decision_is_ignored() -> None:
    late = settle(record(Phase.NOTIFIED), NOW + 20)
    assert late.phase is Phase.SUSPENDING
    assert late.outcome is SaveOutcome.UNRESPONSIVE
    assert step(late, Happening(event=RequestEvent.ACCEPTED), NOW + 21) is None


def test_an_answer_waits_for_all_pods_that_run() -> None:
    asked = record(Phase.NOTIFIED)
    assert combine(asked, voices(a=answer(Word.ACCEPTED), b=None), Heard())[0] is None
    found, _ = combine(asked, voices(a=answer(Word.ACCEPTED), b=answer(Word.ACCEPTED)), Heard())
    assert found is not None
    assert found.event is RequestEvent.ACCEPTED


def test_one_silent_rank_holds_the_heartbeat_of_all_back() -> None:
    saving = record(Phase.SAVING)
    beats = voices(a=answer(Word.HEARTBEAT, beat="1"), b=answer(Word.HEARTBEAT, beat="1"))
    found, heard = combine(saving, beats, Heard())
    assert found is not None
    assert combine(saving, beats, heard)[0] is None
    half = voices(a=answer(Word.HEARTBEAT, beat="2"), b=answer(Word.HEARTBEAT, beat="1"))
    assert combine(saving, half, heard)[0] is None
    both = voices(a=answer(Word.HEARTBEAT, beat="2"), b=answer(Word.HEARTBEAT, beat="2"))
    found, _ = combine(saving, both, heard)
    assert found is not None
    assert found.event is RequestEvent.HEARD


@pytest.mark.parametrize(
    ("age_s", "want"),
    [
        pytest.param(60, RequestEvent.SAVED, id="younger than the terms ask for"),
        pytest.param(600, RequestEvent.ACCEPTED, id="too old: it has to save"),
    ],
)
def test_a_fresh_checkpoint_spares_the_saving(age_s: float, want: RequestEvent) -> None:
    fresh = answer(Word.ALREADY_FRESH, at=NOW - age_s, uri="s3://b/9", step=9)
    found, _ = combine(record(Phase.NOTIFIED), voices(a=fresh), Heard())
    assert found is not None
    assert found.event is want


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        pytest.param("s3://bucket/step-4", True, id="a scheme"),
        pytest.param("/mnt/ckpt/step-4", True, id="an absolute path"),
        pytest.param("step 4", False, id="words"),
        pytest.param("s3://a b", False, id="a blank"),
        pytest.param("s3://" + "x" * 2000, False, id="endless"),
    ],
)
def test_what_is_no_uri_is_told_and_not_handed_on(uri: str, kept: bool) -> None:
    found, _ = combine(record(Phase.NOTIFIED), voices(a=answer(Word.SAVED, uri=uri)), Heard())
    assert found is not None
    assert found.event is RequestEvent.SAVED
    assert found.saved is not None
    assert found.saved.uri == (uri if kept else "")
    assert ("no URI" in found.message) is not kept


def test_a_request_ends_whatever_the_pods_do() -> None:
    """The longest possible request: refused, asked again, saving with progress to the last."""
    one = record(Phase.NOTIFIED)
    one = happen(one, RequestEvent.REFUSED, one.ack_by - 1, delay_s=1e9)
    assert one.resume_at is not None
    now = one.resume_at
    one = happen(settle(one, now), RequestEvent.NOTICE_DELIVERED, now, asked=("a",))
    now = one.ack_by - 0.001
    one = happen(one, RequestEvent.ACCEPTED, now)
    while one.phase is Phase.SAVING:
        now += 1
        one = settle(step(one, Happening(event=RequestEvent.HEARD), now) or one, now)
    assert one.phase is Phase.SUSPENDING
    assert now <= one.request.save_by + 1


@pytest.mark.parametrize(
    ("patience_s", "ack_by", "save_by"),
    [
        pytest.param(None, NOW + 20, NOW + 300, id="as the terms say"),
        pytest.param(10_000.0, NOW + 20, NOW + 300, id="nobody can lengthen it"),
        pytest.param(60.0, NOW + 20, NOW + 60, id="a hurry cuts the saving"),
        pytest.param(5.0, NOW + 5, NOW + 5, id="and the answer"),
    ],
)
def test_whoever_is_in_a_hurry_shortens_every_deadline(
    patience_s: float | None, ack_by: float, save_by: float
) -> None:
    one = asked_in_a_hurry(patience_s)
    assert (one.request.ack_by, one.request.save_by) == (ack_by, save_by)
    now = NOW
    while one.phase in HOLDS_THE_STOP:
        at = look_again_at(one)
        assert at is not None
        now = at
        one = settle(one, now)
        if one.phase is Phase.SELECTED:
            one = happen(one, RequestEvent.NOTICE_DELIVERED, now, asked=("a",))
    assert now <= save_by


def test_who_refuses_somebody_in_a_hurry_gains_no_time() -> None:
    one = happen(asked_in_a_hurry(30.0), RequestEvent.NOTICE_DELIVERED, asked=("a",))
    refused = happen(one, RequestEvent.REFUSED, NOW + 15, delay_s=1e9)
    assert refused.resume_at == one.request.save_by == NOW + 30
    over = settle(refused, NOW + 30)
    assert (over.phase, over.outcome) == (Phase.SUSPENDING, SaveOutcome.UNRESPONSIVE)


@pytest.mark.parametrize("patience_s", [0.0, -60.0])
def test_who_leaves_no_time_has_the_work_stopped_at_once(patience_s: float) -> None:
    one = settle(asked_in_a_hurry(patience_s), NOW)
    assert (one.phase, one.outcome) == (Phase.SUSPENDING, SaveOutcome.NOT_ASKED)
    assert one.message == "no time is left to save"


def asked_in_a_hurry(patience_s: float | None) -> Record:
    cause = StopCause("Preempted", "p")
    made = SaveRequest.made("r", 1, cause, terms=TERMS, now=NOW)
    return Record(request=made.hurried(patience_s))
