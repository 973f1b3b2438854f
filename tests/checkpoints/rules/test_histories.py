"""Random histories of a request: whatever pods, time and admins do, it keeps its promises."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.checkpoints.rules.answers import Heard, PodState, SaveAnswer, Voice, Word, combine
from queueing.checkpoints.rules.phases import HOLDS_THE_STOP, Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.step import Happening, look_again_at, settle, step
from queueing.checkpoints.rules.terms import Driver, OnFailure, Terms

NOW = 1000.0
PODS = ("a", "b")
seconds = st.sampled_from([1.0, 5.0, 20.0, 60.0])
terms = st.builds(
    Terms,
    driver=st.just(Driver.ANNOTATION),
    ack_s=seconds,
    save_s=seconds,
    save_max_s=st.sampled_from([60.0, 300.0]),
    heartbeat_s=seconds,
    refusal_limit=st.integers(0, 2),
    refusal_delay_s=seconds,
    on_failure=st.sampled_from(list(OnFailure)),
)
answers = st.builds(
    SaveAnswer,
    request_id=st.sampled_from(["r", "r", "r", "old"]),
    epoch=st.sampled_from([2, 2, 2, 1]),
    word=st.sampled_from(list(Word)),
    uri=st.sampled_from(["", "s3://b/1", "no uri"]),
    beat=st.sampled_from(["1", "2", "3"]),
    progress=st.sampled_from([None, 0.5, 1.0]),
    delay_s=st.sampled_from([0.0, 1e6]),
    at=st.sampled_from([None, 0.0, NOW]),
)
voices = st.builds(
    Voice,
    condition=st.sampled_from([PodState.RUNNING] * 4 + list(PodState)),
    answer=st.none() | answers,
)
moments = st.fixed_dictionaries(
    {
        "pods": st.fixed_dictionaries(dict.fromkeys(PODS, voices)),
        "after_s": st.sampled_from([0.0, 0.5, 3.0, 30.0, 1e4]),
        "event": st.none()
        | st.sampled_from(
            [
                RequestEvent.NOTICE_DELIVERED,
                RequestEvent.WITHDRAWN,
                RequestEvent.PODS_GONE,
                RequestEvent.ENDED,
                RequestEvent.NOTICE_LOST,
            ]
        ),
    }
)


@given(terms=terms, history=st.lists(moments, max_size=25), spared=st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_a_request_keeps_its_promises(terms: Terms, history: list, spared: int) -> None:
    cause = StopCause("Preempted", "p")
    one = Record(request=SaveRequest.made("r", 2, cause, terms=terms, now=NOW))
    now, heard, asked = NOW, Heard(), False
    for moment in history:
        now += moment["after_s"]
        before = one
        one, heard = moved(one, moment, heard, now)
        one = settle(one, now, spared_before=spared)
        asked = asked or one.notified_at is not None
        check(before, one, now, asked=asked)
    assert ends(one, now, spared).phase not in HOLDS_THE_STOP - {Phase.CANCELLED}


def moved(one: Record, moment: dict, heard: Heard, now: float) -> tuple[Record, Heard]:
    if moment["event"] is not None:
        happening = Happening(event=moment["event"], asked=PODS)
        one = step(one, happening, now) or one
    if one.phase in (Phase.NOTIFIED, Phase.SAVING, Phase.REFUSED):
        spoken, heard = combine(one, moment["pods"], heard)
        if spoken is not None:
            one = step(one, spoken, now) or one
    return one, heard


def check(before: Record, one: Record, now: float, *, asked: bool) -> None:
    stopped = one.phase in (Phase.SUSPENDING, Phase.DRAINED)
    newly = stopped and before.phase in HOLDS_THE_STOP
    gone = one.phase is Phase.DRAINED
    if newly and not gone:
        told = one.outcome in {SaveOutcome.SAVED, SaveOutcome.UNRESPONSIVE, SaveOutcome.FAILED}
        assert told, "nobody is stopped before the asking has ended"
        assert asked or one.outcome is SaveOutcome.UNRESPONSIVE
    if not before.is_open:
        assert one == before, "what is over stays so"
    if one.phase in (Phase.NOTIFIED, Phase.SAVING):
        assert look_again_at(one) is not None, "every wait has an end"
    if one.save_by is not None:
        assert one.save_by <= one.request.save_by
    assert one.request == before.request, "a request does not change"
    if one.outcome is SaveOutcome.SAVED and before.outcome is not SaveOutcome.SAVED:
        assert one.saved is not None


def ends(one: Record, now: float, spared: int) -> Record:
    """Let time alone go on, with pods that say nothing and a notice that is delivered."""
    for _ in range(50):
        at = look_again_at(one)
        if at is None or one.phase not in HOLDS_THE_STOP:
            return one
        now = max(now, at)
        one = settle(one, now, spared_before=spared)
        if one.phase is Phase.SELECTED:
            one = step(one, Happening(event=RequestEvent.NOTICE_DELIVERED, asked=PODS), now) or one
    return replace(one)
