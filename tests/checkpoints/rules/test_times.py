from dataclasses import replace
from itertools import pairwise

import pytest

from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, Saved, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.checkpoints.rules.times import Moments, Work, stages, work

ASKED = 1000.0
REQUEST = SaveRequest.made(
    "r", 1, StopCause("Preempted"), terms=Terms(driver=Driver.ANNOTATION), now=ASKED
)
STOPPED = Record(
    request=REQUEST,
    phase=Phase.SUSPENDING,
    notified_at=1001.0,
    accepted_at=1003.0,
    suspended_at=1010.0,
    outcome=SaveOutcome.SAVED,
    saved=Saved(at=1009.0),
)
NEVER_ASKED = Record(request=REQUEST, phase=Phase.SUSPENDING, suspended_at=1000.0)


@pytest.mark.parametrize(
    ("record", "want"),
    [
        pytest.param(
            STOPPED,
            [
                ("notify", 1000, 1001),
                ("ack", 1001, 1003),
                ("save", 1003, 1010),
                ("drain", 1010, 1030),
            ],
            id="all of them",
        ),
        pytest.param(
            replace(STOPPED, accepted_at=None),
            [("notify", 1000, 1001), ("ack", 1001, 1010), ("drain", 1010, 1030)],
            id="saved at once",
        ),
        pytest.param(NEVER_ASKED, [("notify", 1000, 1000), ("drain", 1000, 1030)], id="not asked"),
        pytest.param(
            replace(STOPPED, suspended_at=None, ended_at=1020.0),
            [("notify", 1000, 1001), ("ack", 1001, 1003), ("save", 1003, 1020)],
            id="it stays",
        ),
    ],
)
def test_stages_follow_one_another(record: Record, want: list[tuple[str, float, float]]) -> None:
    assert [(one.name, one.began, one.ended) for one in stages(record, 1030.0)] == want


SEEN = Moments(chosen_at=999.0, halted_at=1012.0, drained_at=1020.0)


@pytest.mark.parametrize(
    ("phase", "beside", "want"),
    [
        pytest.param(
            Phase.RELEASED,
            SEEN,
            {"select": (999, 1000), "suspend": (1010, 1012), "drain": (1012, 1020)}
            | {"release": (1020, 1030)},
            id="all of it",
        ),
        pytest.param(
            Phase.DRAINED,
            SEEN,
            {"select": (999, 1000), "suspend": (1010, 1012), "drain": (1012, 1030)},
            id="quota is still held",
        ),
        pytest.param(
            Phase.RELEASED,
            Moments(drained_at=1020.0),
            {"drain": (1010, 1020), "release": (1020, 1030)},
            id="somebody else led when it was suspended",
        ),
        pytest.param(Phase.RELEASED, Moments(), {"drain": (1010, 1030)}, id="nothing was noted"),
    ],
)
def test_what_the_leader_noted_beside_a_request_divides_its_stages(
    phase: Phase, beside: Moments, want: dict[str, tuple[float, float]]
) -> None:
    asked = {"notify": (1000, 1001), "ack": (1001, 1003), "save": (1003, 1010)}
    found = stages(replace(STOPPED, phase=phase), 1030.0, beside)
    assert {one.name: (one.began, one.ended) for one in found} == asked | want
    assert all(one.ended == then.began for one, then in pairwise(found))


def test_pods_that_went_by_themselves_were_neither_suspended_nor_drained() -> None:
    gone = replace(STOPPED, suspended_at=None, phase=Phase.RELEASED)
    found = stages(gone, 1030.0, Moments(drained_at=1008.0))
    assert [one.name for one in found] == ["notify", "ack", "save", "release"]
    assert (found[2].ended, found[3].ended) == (1008.0, 1030.0)


@pytest.mark.parametrize(
    ("record", "want"),
    [
        pytest.param(STOPPED, Work(saved_s=109, lost_s=1), id="saved a second before the stop"),
        pytest.param(
            replace(STOPPED, saved=Saved(at=5e9)), Work(saved_s=110), id="a clock in the future"
        ),
        pytest.param(
            replace(STOPPED, saved=Saved(at=1.0)), Work(lost_s=110), id="a clock in the past"
        ),
        pytest.param(replace(STOPPED, saved=Saved()), Work(saved_s=110), id="no word of when"),
        pytest.param(
            replace(STOPPED, outcome=SaveOutcome.FAILED, saved=None), Work(lost_s=110), id="failed"
        ),
        pytest.param(
            replace(STOPPED, outcome=SaveOutcome.FAILED, saved=None, phase=Phase.CANCELLED),
            Work(),
            id="failed, and stays",
        ),
        pytest.param(NEVER_ASKED, Work(lost_s=100), id="not asked"),
    ],
)
def test_what_was_done_since_the_last_save_is_saved_or_lost(record: Record, want: Work) -> None:
    assert work(record, 900.0, 1030.0) == want
