from dataclasses import replace

import pytest

from queueing.checkpoints.rules.idleness import (
    JobIdleness,
    idle_since,
    idle_since_by_leaders,
    said_idle,
)
from queueing.checkpoints.rules.terms import Driver, Terms, within

STARTED = 1_000.0
TERMS = Terms(driver=Driver.ANNOTATION)


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        pytest.param([], None, id="no Job"),
        pytest.param([JobIdleness(0)], None, id="nothing runs"),
        pytest.param([JobIdleness(2)], None, id="nobody says so"),
        pytest.param([JobIdleness(2, (1_100.0,))], None, id="one of two works"),
        pytest.param([JobIdleness(2, (1_100.0, 1_200.0))], 1_200.0, id="the last one counts"),
        pytest.param([JobIdleness(1, (500.0,))], STARTED, id="not before it ran"),
        pytest.param(
            [JobIdleness(1, (1_100.0,)), JobIdleness(1)], None, id="a member of the gang works"
        ),
        pytest.param(
            [JobIdleness(1, (1_100.0,)), JobIdleness(0)], 1_100.0, id="a member has ended"
        ),
    ],
)
def test_a_workload_is_idle_when_no_pod_of_it_works(
    parts: list[JobIdleness], want: float | None
) -> None:
    assert idle_since(parts, STARTED) == want


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        pytest.param([JobIdleness(9)], None, id="the leader works"),
        pytest.param(
            [JobIdleness(9, (1_100.0,)), JobIdleness(9)], 1_100.0, id="the leader does not"
        ),
        pytest.param([JobIdleness(9, (500.0,))], STARTED, id="not before it ran"),
    ],
)
def test_a_leader_speaks_for_all(parts: list[JobIdleness], want: float | None) -> None:
    assert idle_since_by_leaders(parts, STARTED) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [("1300", 1300.0), ("", None), ("-1", None), ("soon", None), ("9" * 40, None)],
)
def test_only_a_time_is_a_word(text: str, want: float | None) -> None:
    assert said_idle(text) == want


@pytest.mark.parametrize(
    ("own", "bound", "want"),
    [
        pytest.param(None, None, None, id="nobody says"),
        pytest.param(None, 60.0, 60.0, id="the queue says"),
        pytest.param(30.0, None, 30.0, id="the team says"),
        pytest.param(90.0, 60.0, 60.0, id="no looser than the queue"),
        pytest.param(30.0, 60.0, 30.0, id="tighter than the queue"),
    ],
)
def test_a_team_may_be_idle_no_longer_than_its_queue_lets_it(
    own: float | None, bound: float | None, want: float | None
) -> None:
    team, queue = replace(TERMS, idle_after_s=own), replace(TERMS, idle_after_s=bound)
    assert within(team, queue).idle_after_s == want
