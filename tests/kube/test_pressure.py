import pytest

from queueing.kube.pressure import CALM_S, LEAST, MEMORY_S, Pressure, Window
from queueing.testing.hand_clock import HandClock

QUIET_S = 0.01
SLOW_S = 0.2


def after(*writes: float, every_s: float = 0.05) -> tuple[Pressure, HandClock]:
    """Return what was heard of writes that ended one after the other; the last one just now."""
    clock = HandClock()
    pressure = Pressure(clock)
    for seconds in writes:
        clock.time += every_s
        pressure.took(seconds)
    return pressure, clock


@pytest.mark.parametrize(
    ("writes", "is_high"),
    [
        pytest.param([], False, id="nothing was written"),
        pytest.param([QUIET_S] * 30, False, id="the server answers at its best"),
        pytest.param([QUIET_S, SLOW_S], False, id="one write took long"),
        pytest.param([QUIET_S, *[SLOW_S] * 30], True, id="all take much longer than the best"),
        pytest.param([0.001, *[SLOW_S] * 10], False, id="these are the first few"),
        pytest.param([0.004, *[0.03] * 30], True, id="they take what people would not notice"),
        pytest.param([0.001, *[0.02] * 60], False, id="nobody waits for so little"),
        pytest.param([SLOW_S] * 30, False, id="it was never faster"),
        pytest.param([*[SLOW_S] * 30, *[QUIET_S] * 60], False, id="it is fast again"),
    ],
)
def test_a_server_is_pressed_while_it_takes_much_longer_than_it_could(
    writes: list[float], *, is_high: bool
) -> None:
    pressure, _ = after(*writes)
    assert pressure.is_high() is is_high


def test_who_writes_nothing_presses_nobody() -> None:
    pressure, clock = after(QUIET_S, *[SLOW_S] * 30)
    clock.time += 2 * MEMORY_S
    assert not pressure.is_high()
    pressure.took(QUIET_S)
    assert not pressure.is_high()


def test_a_good_moment_is_no_rest() -> None:
    pressure, clock = after(QUIET_S, *[SLOW_S] * 30)
    until = clock.time + CALM_S
    while pressure.is_high():
        clock.time += 0.05
        pressure.took(QUIET_S)
    assert pressure.was_high()
    assert clock.time < until
    clock.time += CALM_S
    assert not pressure.was_high()


def test_a_server_at_its_best_was_never_pressed() -> None:
    pressure, _ = after(*[QUIET_S] * 30)
    assert not pressure.was_high()


def test_a_window_hears_of_each_write() -> None:
    window = Window(32, slow_s=1.0)
    Pressure(HandClock(), window).took(QUIET_S)
    assert window.size == LEAST + 1
