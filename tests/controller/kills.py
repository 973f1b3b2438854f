"""A controller that is killed instead of one of its writes, wherever in a life that is."""

from collections.abc import Awaitable, Callable

import pytest

from tests.controller.gangs.gang_harness import GangWorld

Done = Callable[[], bool]


class Kill:
    """The kill instead of one write of a life, counted from its begin."""

    def __init__(self, w: GangWorld, write: int) -> None:
        self._world, self._left = w, write
        self.came = False
        """Whether there was so late a write."""

    async def until(self, done: Done) -> None:
        """Wait until something holds; if the kill comes before that, another controller goes on."""

        async def nothing() -> Done:
            return done

        await self.through(nothing)

    async def through(self, step: Callable[[], Awaitable[Done]]) -> None:
        """Take a step and wait until what it returns holds; the kill may come in either."""
        w, before = self._world, len(self._world.writes)
        if not self.came:
            w.kill_before(self._left)
        done = await step()
        if not self.came:
            self.came = await w.wait_killed(done)
            self._left -= len(w.writes) - before
            if self.came:
                await w.restart()
        await w.eventually(done)


Life = Callable[[GangWorld, Kill], Awaitable[None]]


async def kill_before_each(w: GangWorld, writes: range, life: Life, *, more_than: int) -> None:
    """Live with a kill before each of these writes, until a life has fewer than that."""
    for write in writes:
        kill = Kill(w, write)
        await life(w, kill)
        if not kill.came:
            break
    else:
        pytest.fail(f"no life ended without a kill: each has more than {writes[-1]} writes")
    assert write > more_than
