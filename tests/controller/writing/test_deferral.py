from dataclasses import dataclass, field

from queueing.controller.writing.deferral import AT_ONCE_MAX, CALLED_S, Deferral
from queueing.kube.pressure import Pressure
from queueing.testing.hand_clock import HandClock

FAST_S, SLOW_S = 0.01, 1.0
WITHIN_S = 60.0


@dataclass
class Stage:
    """A server that is pressed or not, and who was called."""

    clock: HandClock = field(default_factory=HandClock)
    called: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pressure = Pressure(self.clock)
        self.deferral = Deferral(self.pressure)

    def press(self) -> None:
        self.pressure.took(FAST_S)
        for _ in range(30):
            self.pressure.took(SLOW_S)

    def puts_off(self, name: str) -> bool:
        return self.deferral.puts_off(name, lambda: self.called.append(name), WITHIN_S)

    def pass_time(self, seconds: float, *, pressed: bool) -> None:
        self.clock.time += seconds
        if pressed:
            self.press()
        self.deferral.call()


def test_nothing_is_put_off_while_the_server_is_at_rest() -> None:
    stage = Stage()
    assert not stage.puts_off("a")


def test_what_is_put_off_is_called_when_the_server_is_at_rest_and_then_let_through() -> None:
    stage = Stage()
    stage.press()
    assert stage.puts_off("a")
    assert stage.puts_off("a")
    stage.pass_time(1.0, pressed=True)
    assert stage.called == []
    stage.pass_time(5.0, pressed=False)
    assert stage.called == ["a"]
    assert not stage.puts_off("a")


def test_nobody_waits_longer_than_promised() -> None:
    stage = Stage()
    stage.press()
    assert stage.puts_off("a")
    stage.pass_time(WITHIN_S, pressed=True)
    assert stage.called == ["a"]
    assert not stage.puts_off("a")
    assert stage.puts_off("a")


def test_who_was_called_and_does_not_come_is_forgotten() -> None:
    stage = Stage()
    stage.press()
    stage.puts_off("a")
    stage.pass_time(WITHIN_S, pressed=True)
    stage.pass_time(CALLED_S + 1.0, pressed=True)
    assert stage.puts_off("a")


def test_not_all_are_called_at_once_and_the_oldest_come_first() -> None:
    stage = Stage()
    stage.press()
    names = [f"job-{number}" for number in range(AT_ONCE_MAX + 2)]
    for name in names:
        stage.puts_off(name)
    stage.pass_time(5.0, pressed=False)
    assert stage.called == names[:AT_ONCE_MAX]
    stage.pass_time(0.25, pressed=False)
    assert stage.called == names


def test_who_comes_when_the_server_is_at_rest_waits_behind_nobody() -> None:
    stage = Stage()
    stage.press()
    stage.puts_off("a")
    stage.clock.time += 5.0
    assert not stage.puts_off("a")
    stage.deferral.call()
    assert stage.called == []
