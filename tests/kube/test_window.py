import pytest

from queueing.kube.pressure import LEAST, Window

SLOW_S = 1.0
QUICK = [0.1] * 40


def after(*writes: float, most: int = 32) -> int:
    """Return the size of a window that heard of these writes."""
    window = Window(most, SLOW_S)
    for seconds in writes:
        window.took(seconds)
    return window.size


@pytest.mark.parametrize(
    ("writes", "size"),
    [
        pytest.param([], LEAST, id="nothing was written"),
        pytest.param([0.1] * LEAST, 2 * LEAST, id="the first ones were quick"),
        pytest.param(QUICK, 32, id="all were quick"),
        pytest.param([2.0] * LEAST, LEAST, id="the first ones were slow"),
        pytest.param([2.0, *[0.1] * LEAST], LEAST, id="the first one was slow"),
        pytest.param([*QUICK, *[2.0] * 32], 16, id="a whole window was slow"),
        pytest.param([*QUICK, *[2.0] * 500], LEAST, id="all became slow"),
        pytest.param([*QUICK, *[2.0] * 32, *[0.1] * 16], 16, id="then half as many were quick"),
        pytest.param([*QUICK, *[2.0] * 32, *[0.1] * 500], 32, id="the server is quick again"),
    ],
)
def test_a_window_follows_how_long_writes_take(writes: list[float], size: int) -> None:
    assert after(*writes) == size


def test_one_slow_write_among_many_makes_no_difference() -> None:
    assert after(*QUICK, 2.0, *[0.1] * 40) == after(*QUICK)


def test_a_lower_limit_holds_at_once_and_shrinks_with_the_next_slow_write() -> None:
    window = Window(32, SLOW_S)
    for seconds in QUICK:
        window.took(seconds)
    window.most = 8
    sizes = [window.size]
    window.took(2.0)
    assert [*sizes, window.size] == [8, 7]


@pytest.mark.parametrize(("each_s", "timeout_s"), [(0.05, 3.0), (0.2, 3.0), (0.4, 10.0)])
def test_a_server_that_works_one_by_one_is_never_asked_beyond_the_timeout(
    each_s: float, timeout_s: float
) -> None:
    """Each write waits for those before it: after a while none comes near its timeout."""
    window = Window(32, timeout_s / 3)
    for _ in range(500):
        window.took(each_s * window.size)
    assert each_s * window.size < timeout_s / 2
