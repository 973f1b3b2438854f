"""The loop that lets the engine decide whenever something changed, or its time has come."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import NoReturn

from queueing.clock import Clock
from queueing.core.decisions import Cycle
from queueing.state.engine import Engine

BUDGET = 256
"""Heads judged before the loop is let go: at the engine's speed about 10 ms."""
GATHER_S = 0.004
"""A burst of events is judged once."""
PATIENCE_S = 1.0
"""Without room for decisions, a cycle for a single tree of quota comes after so long: what passes
with time, as credits do, goes on with each cycle."""


class Cycles:
    """Runs the engine's cycles one after another; `wake` is synchronous.

    `carry_out` gets each cycle and the seconds that deciding it took. `room` says how many
    decisions may be written soon, and no more heads are judged at once: what is decided holds
    quota. If all were decided long before it is written, those behind would take up whatever gets
    free, bit by bit, and who needs much of it at once would come last.
    """

    def __init__(
        self,
        engine: Engine,
        carry_out: Callable[[Cycle, float], None],
        clock: Clock,
        *,
        budget: int,
        room: Callable[[], int],
    ) -> None:
        self._engine, self._carry_out, self._clock = engine, carry_out, clock
        self._budget, self._room = budget, room
        self._wanted = asyncio.Event()
        self._lacks_room = False
        self._decided_at = float("-inf")

    def wake(self) -> None:
        """Ask for a cycle."""
        self._wanted.set()

    def go_on(self) -> None:
        """Hear that something was written: decide what there was no room for."""
        if self._lacks_room and self._room():
            self.wake()

    async def run(self) -> NoReturn:
        """Decide, for ever."""
        wake_at: float | None = None
        while True:
            await self._wait(wake_at)
            await asyncio.sleep(GATHER_S)
            self._wanted.clear()
            wake_at = await self._decide()

    async def _decide(self) -> float | None:
        """Run one cycle as far as there is room, letting the loop go in between."""
        while heads := self._allowed():
            began = self._decided_at = self._clock.monotonic()
            cycle = self._engine.cycle(self._clock.now(), heads)
            self._carry_out(cycle, self._clock.monotonic() - began)
            if cycle.finished:
                return cycle.wake_at
            await asyncio.sleep(0)
        return self._clock.now() + PATIENCE_S

    def _allowed(self) -> int:
        """Return how many heads may be judged now."""
        room = self._room()
        self._lacks_room = not room
        if room:
            return min(self._budget, room)
        return int(self._clock.monotonic() - self._decided_at >= PATIENCE_S)

    async def _wait(self, wake_at: float | None) -> None:
        if wake_at is None:
            await self._wanted.wait()
            return
        left_s = wake_at - self._clock.now()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(left_s, 0.0)):
                await self._wanted.wait()
