"""The loop that runs the engine whenever a fact changed, or at the time that it asked for.

Run by `session` for as long as this replica leads; `intake` wakes it by `wanted`, and the writer,
when it has room again, by `go_on`.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from queueing.clock import Clock
from queueing.core.decisions import Cycle
from queueing.kube.writer import DECISIONS_LEAST, decisions_at_once
from queueing.state.engine import Engine

BUDGET = 256
"""How many heads (pending workloads) a cycle judges before its decisions are carried out."""
PORTION_S = 0.02
"""Seconds after which the engine pauses, so that the event loop may run other tasks."""
SWEPT = 16
"""How many groups of equal workloads that wait are judged again in one sweep."""
SWEEP_S = 1.0
"""Seconds of rest before a sweep."""
SWEEP_SHARE = 0.01
"""The part of the time that sweeps may take."""
GATHER_S = 0.004
"""Seconds between the first event and a cycle, so that a burst of events is judged once."""
PATIENCE_S = 1.0
"""Seconds after which a cycle judges one head although no more decisions could be written: what
depends on time, such as credit ledgers, is only brought up to date by cycles."""


class Cycles:
    """Runs the engine's cycles one after another.

    `carry_out` gets each cycle and the seconds that deciding it took. `room` says how many
    decisions the writer could take soon, with a limit of how many it may write at a time; no more
    heads than that are judged at once. A decision holds quota from the moment it is made. If
    decisions were made long before they can be written, quota that gets free in small amounts would
    go to small workloads far back in the queue, and a large workload would never find enough free
    at once.
    """

    def __init__(
        self,
        engine: Engine,
        carry_out: Callable[[Cycle, float], None],
        clock: Clock,
        *,
        budget: int,
        room: Callable[[int], int],
    ) -> None:
        self._engine, self._carry_out, self._clock = engine, carry_out, clock
        self._budget, self._room = budget, room
        self.wanted = asyncio.Event()
        """Set to ask for a cycle."""
        self._limit = DECISIONS_LEAST
        """How many decisions are written at a time, by what the last cycle left to be judged."""
        self._lacks_room = False
        self._decided_at = float("-inf")
        self._wake_at: float | None = None
        """When the last finished cycle asked for the next."""
        self._sweep_at: float | None = None
        """When, by the monotonic clock, to sweep if nothing else happens; None if nobody waits."""

    def go_on(self) -> None:
        """Ask for a cycle if there is room for decisions again; called after each write."""
        if self._lacks_room and self._room(self._limit):
            self.wanted.set()

    async def run(self) -> NoReturn:
        """Run cycles for ever."""
        wake_at: float | None = None
        while True:
            if await self._rest(wake_at):
                await asyncio.sleep(GATHER_S)
                self.wanted.clear()
                wake_at = await self._decide()
                self._sweep_at = self._clock.monotonic() + SWEEP_S
            else:
                wake_at = await self._sweep()

    async def _decide(self) -> float | None:
        """Run one cycle as far as there is room; return when to run the next without an event.

        The time is of the wall clock; None when only an event can change anything.
        """
        while heads := self._allowed():
            began = self._decided_at = self._clock.monotonic()
            cycle = self._engine.cycle(self._clock.now(), heads, partial(self._is_over, began))
            limit = decisions_at_once(self._engine.queues_to_judge)
            if limit != self._limit:
                self._limit = limit
                self._room(limit)  # it holds for the writes of this cycle, too
            self._carry_out(cycle, self._clock.monotonic() - began)
            if cycle.finished:
                self._wake_at = cycle.wake_at
                return cycle.wake_at
            await asyncio.sleep(0)
        return self._clock.now() + PATIENCE_S

    def _allowed(self) -> int:
        """Return how many heads may be judged now."""
        room = self._room(self._limit)
        self._lacks_room = not room
        if room:
            return min(self._budget, room)
        return int(self._clock.monotonic() - self._decided_at >= PATIENCE_S)

    def _is_over(self, began: float) -> bool:
        """Say whether the engine has held the event loop for long enough."""
        return self._clock.monotonic() >= began + PORTION_S

    async def _sweep(self) -> float | None:
        """Judge some again who wait longest; the next sweep comes when this one took little of it.

        A change that the engine did not take to help somebody costs him a little time because of
        that, and never more.
        """
        began = self._clock.monotonic()
        if not self._engine.sweep(SWEPT):
            self._sweep_at = None
            return self._clock.now() + PATIENCE_S if self._lacks_room else self._wake_at
        wake_at = await self._decide()
        ended = self._clock.monotonic()
        self._sweep_at = ended + max(SWEEP_S, (ended - began) / SWEEP_SHARE)
        return wake_at

    async def _rest(self, wake_at: float | None) -> bool:
        """Wait for an event, until a time, or for a sweep; False if it is time for the latter."""
        left = [] if wake_at is None else [max(wake_at - self._clock.now(), 0.0)]
        sweep_in = None
        if self._sweep_at is not None:
            sweep_in = max(self._sweep_at - self._clock.monotonic(), 0.0)
            left.append(sweep_in)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(left, default=None)):
                await self.wanted.wait()
        return self.wanted.is_set() or sweep_in is None or min(left) < sweep_in
