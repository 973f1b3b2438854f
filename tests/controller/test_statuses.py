import pytest

from queueing.controller.statuses import AT_REST_MAX, WHEN_BUSY_PER_SECOND, pace


def test_statuses_catch_up_only_while_nobody_else_writes_and_the_server_is_at_rest() -> None:
    most, _ = pace(busy=False, at_rest=True)
    assert most == AT_REST_MAX


@pytest.mark.parametrize(
    ("busy", "at_rest"),
    [
        pytest.param(True, True, id="admissions are being written"),
        pytest.param(False, False, id="the server is not at rest"),
        pytest.param(True, False, id="both"),
    ],
)
def test_otherwise_all_statuses_share_a_small_rate(*, busy: bool, at_rest: bool) -> None:
    most, every_s = pace(busy=busy, at_rest=at_rest)
    assert most / every_s == WHEN_BUSY_PER_SECOND


def test_a_server_that_is_not_at_rest_is_looked_after_less_often() -> None:
    (_, at_rest_s), (_, pressed_s) = (pace(busy=True, at_rest=one) for one in (True, False))
    assert pressed_s > at_rest_s
