import pytest

from queueing.controller.queues.statuses import (
    AT_REST_MAX,
    OTHERS_PER_STATUS,
    UNLESS_AT_REST_PER_SECOND,
    WHEN_BUSY_PER_SECOND,
    pace,
)


def test_statuses_catch_up_only_while_nobody_else_writes_and_the_server_is_at_rest() -> None:
    most, _ = pace(busy=False, at_rest=True, written=0)
    assert most == AT_REST_MAX


def test_beside_admissions_all_statuses_share_a_small_rate() -> None:
    most, every_s = pace(busy=True, at_rest=True, written=0)
    assert most / every_s == WHEN_BUSY_PER_SECOND


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize(
    ("written", "per_second"),
    [
        pytest.param(0, UNLESS_AT_REST_PER_SECOND, id="nothing else is written"),
        pytest.param(OTHERS_PER_STATUS, UNLESS_AT_REST_PER_SECOND, id="the server is slow"),
        pytest.param(5 * OTHERS_PER_STATUS, 5, id="a part of what is written"),
        pytest.param(99 * OTHERS_PER_STATUS, WHEN_BUSY_PER_SECOND, id="the server is fast"),
    ],
)
def test_unless_the_server_is_at_rest_statuses_are_a_small_part_of_all_writes(
    *, busy: bool, written: int, per_second: float
) -> None:
    most, every_s = pace(busy=busy, at_rest=False, written=written)
    assert most / every_s == per_second


def test_a_server_that_is_not_at_rest_is_looked_after_less_often() -> None:
    (_, at_rest_s), (_, pressed_s) = (
        pace(busy=True, at_rest=one, written=0) for one in (True, False)
    )
    assert pressed_s > at_rest_s
