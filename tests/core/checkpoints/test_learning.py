import pytest

from queueing.core.checkpoints.learning import Learned, learned, restart_s
from queueing.core.checkpoints.record import Cause, Outcome, Record, Request, Saved
from queueing.core.checkpoints.terms import Driver, Terms

TERMS = Terms(driver=Driver.ANNOTATION)


def over(
    outcome: Outcome | None, *, asked_at: float = 0.0, took_s: float = 40.0, step: int = 1
) -> Record:
    cause = Cause("Preempted", "p")
    request = Request.made("r", 1, cause, terms=TERMS, now=asked_at)
    saved = Saved(uri="s3://b", step=step, at=float(step)) if outcome is Outcome.SAVED else None
    return Record(request=request, outcome=outcome, suspended_at=asked_at + took_s, saved=saved)


SAVED, FAILED, SILENT = Outcome.SAVED, Outcome.FAILED, Outcome.UNRESPONSIVE


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
            [over(SAVED), over(SAVED), over(SAVED, step=2)],
            Learned(saves=True, save_s=40, saved_at=2),
            id="progress is none",
        ),
    ],
)
def test_what_past_requests_teach(records: list[Record], want: Learned) -> None:
    assert learned(records) == want


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
