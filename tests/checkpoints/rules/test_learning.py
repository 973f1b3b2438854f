from dataclasses import replace

import pytest

from queueing.checkpoints.rules.answers import Heard, PodState, SaveAnswer, Voice, Word, combine
from queueing.checkpoints.rules.learning import Learned, learned, restart_s
from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.step import settle
from queueing.checkpoints.rules.step import step as move
from queueing.checkpoints.rules.terms import Driver, Terms

TERMS = Terms(driver=Driver.ANNOTATION)


def over(
    outcome: SaveOutcome | None, *, asked_at: float = 0.0, took_s: float = 40.0, step: int = 1
) -> Record:
    cause = StopCause("Preempted", "p")
    request = SaveRequest.made("r", 1, cause, terms=TERMS, now=asked_at)
    saved = Saved(uri="s3://b", step=step, at=float(step)) if outcome is SaveOutcome.SAVED else None
    return Record(request=request, outcome=outcome, suspended_at=asked_at + took_s, saved=saved)


def told(*, step: int | None, at: float) -> Record:
    """Return a request that was answered with one and the same place."""
    return replace(over(SaveOutcome.SAVED), saved=Saved(uri="/ckpt", step=step, at=at))


SAVED, FAILED, SILENT = SaveOutcome.SAVED, SaveOutcome.FAILED, SaveOutcome.UNRESPONSIVE


@pytest.mark.parametrize(
    ("records", "want"),
    [
        pytest.param([], Learned(saves=True), id="nothing is known: it is believed"),
        pytest.param([over(None)], Learned(saves=True), id="nor from one that is still asked"),
        pytest.param(
            [over(SAVED, took_s=40)],
            Learned(saves=True, save_s=40, saved_at=1),
            id="what it took",
        ),
        pytest.param(
            [over(SAVED, took_s=40), over(SAVED, took_s=80, step=2)],
            Learned(saves=True, save_s=60, saved_at=2),
            id="the newest counts as much as all before",
        ),
        pytest.param(
            [over(SAVED), over(FAILED)],
            Learned(saves=True, save_s=40, saved_at=1),
            id="one failure is an accident",
        ),
        pytest.param(
            [over(SAVED), over(FAILED), over(SILENT)],
            Learned(saves=False, save_s=40, saved_at=1),
            id="two are a habit",
        ),
        pytest.param(
            [over(FAILED), over(SILENT), over(SAVED)],
            Learned(saves=True, save_s=40, saved_at=1),
            id="a save mends it",
        ),
        pytest.param(
            [over(SAVED)] * 3,
            Learned(saves=False, save_s=40, saved_at=1),
            id="the same checkpoint again and again is a lie",
        ),
        pytest.param(
            [told(step=1, at=1.0), told(step=1, at=2.0), told(step=1, at=3.0)],
            Learned(saves=False, save_s=40, saved_at=3),
            id="nor is a step that is called fresh each time",
        ),
        pytest.param(
            [told(step=None, at=1.0), told(step=None, at=2.0), told(step=None, at=3.0)],
            Learned(saves=True, save_s=40, saved_at=3),
            id="without steps the time is believed",
        ),
        pytest.param(
            [over(SAVED), over(SAVED), over(SAVED, step=2)],
            Learned(saves=True, save_s=40, saved_at=2),
            id="progress is none",
        ),
    ],
)
def test_what_past_requests_teach(records: list[Record], want: Learned) -> None:
    assert learned(records) == want


def test_who_calls_the_same_step_fresh_three_times_is_priced_as_one_that_does_not_save() -> None:
    records, prices = [], []
    for asked_at in (1_000.0, 5_000.0, 9_000.0):
        records.append(called_fresh(asked_at, step=40))
        prices.append(learned(records).saves)
    assert prices == [True, True, False]
    assert learned([*records, called_fresh(13_000.0, step=41)]).saves, "it got further"


def called_fresh(asked_at: float, *, step: int) -> Record:
    """Return a request at once answered with a checkpoint that is said to be ten seconds old."""
    request = SaveRequest.made("r", 1, StopCause("Preempted", "p"), terms=TERMS, now=asked_at)
    record = Record(request=request, phase=Phase.NOTIFIED, asked=("a",), notified_at=asked_at)
    at = asked_at - 10.0
    answer = SaveAnswer(request_id="r", epoch=1, word=Word.ALREADY_FRESH, step=step, at=at)
    voices = {"a": Voice(condition=PodState.RUNNING, answer=answer)}
    happening, _ = combine(record, voices, Heard())
    assert happening is not None
    saved = move(record, happening, asked_at + 1.0)
    assert saved is not None
    return settle(saved, asked_at + 1.0)


@pytest.mark.parametrize(
    ("ready_at", "want"),
    [
        pytest.param(130.0, 30.0, id="as it was seen"),
        pytest.param(None, 60.0, id="never seen"),
        pytest.param(90.0, 60.0, id="of an earlier run"),
    ],
)
def test_how_long_a_run_takes_to_start(ready_at: float | None, want: float) -> None:
    assert restart_s(100.0, ready_at, usual_s=60.0) == want
