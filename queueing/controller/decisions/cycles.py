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


class Cycles:
    """Runs the engine's cycles one after another; `wake` is synchronous.

    `carry_out` gets each cycle and the seconds that deciding it took.
    """

    def __init__(
        self,
        engine: Engine,
        carry_out: Callable[[Cycle, float], None],
        clock: Clock,
        *,
        budget: int,
    ) -> None:
        self._engine, self._carry_out, self._clock = engine, carry_out, clock
        self._budget = budget
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """Ask for a cycle."""
        self._wanted.set()

    async def run(self) -> NoReturn:
        """Decide, for ever."""
        wake_at: float | None = None
        while True:
            await self._wait(wake_at)
            await asyncio.sleep(GATHER_S)
            self._wanted.clear()
            wake_at = await self._decide()

    async def _decide(self) -> float | None:
        """Run one cycle to its end, letting the loop go in between."""
        while True:
            began = self._clock.monotonic()
            cycle = self._engine.cycle(self._clock.now(), self._budget)
            self._carry_out(cycle, self._clock.monotonic() - began)
            if cycle.finished:
                return cycle.wake_at
            await asyncio.sleep(0)

    async def _wait(self, wake_at: float | None) -> None:
        if wake_at is None:
            await self._wanted.wait()
            return
        left_s = wake_at - self._clock.now()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(left_s, 0.0)):
                await self._wanted.wait()
