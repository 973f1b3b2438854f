"""How soon devices and claims are evaluated again."""

from queueing.devices.shell.composition import GATHER_S, PAUSE_MAX_S, pause_s


def test_evaluations_leave_the_loop_its_time_and_what_came_is_counted_soon() -> None:
    assert [pause_s(took) for took in (0.0, 0.1, 30.0)] == [GATHER_S, 1.0, PAUSE_MAX_S]
