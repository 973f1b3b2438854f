"""What lives with a kill in them hold."""

from collections.abc import Callable
from typing import cast

import pytest

from tests.controller.gangs.gang_harness import GangWorld
from tests.controller.kills import Done, Kill, kill_before_each


class Noted:
    """A world in which nobody is killed."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.told: list[str] = []

    def kill_before(self, write: int) -> None:
        self.told.append(f"armed before {write}")

    async def wait_killed(self, else_done: Callable[[], bool]) -> bool:
        self.writes.append("any")
        return not else_done()

    async def eventually(self, holds: Callable[[], bool]) -> None:
        assert holds()


async def test_the_kill_may_come_while_a_step_is_taken() -> None:
    world = Noted()
    kill = Kill(cast("GangWorld", world), 5)

    async def step() -> Done:
        world.told.append("step")
        world.writes += ["any", "other"]
        return lambda: True

    await kill.through(step)
    await kill.until(lambda: True)
    assert world.told == ["armed before 5", "step", "armed before 2"]


async def test_lives_of_which_none_ends_without_a_kill_are_too_few() -> None:
    async def a_life(_: GangWorld, kill: Kill) -> None:
        kill.came = True

    with pytest.raises(pytest.fail.Exception, match="no life ended without a kill"):
        await kill_before_each(cast("GangWorld", Noted()), range(0, 60, 5), a_life, more_than=3)
