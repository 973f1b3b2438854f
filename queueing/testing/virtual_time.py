"""An asyncio event loop whose time passes only while all tasks wait: hours of timers in no time.

For code that takes the time from the loop, or from a `Clock`. From its first connection or thread
on the loop waits as others do, because nobody else jumps to the next timer.
"""

import asyncio
import selectors
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple

from typing_extensions import override

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH_S = 1_000_000.0
"""Seconds since 1970."""
TURN_S = 1e-6
"""How long each turn of the loop takes. Whoever waits for a moment that it computed may else find
itself a rounding error before it, and wait for no time again and again."""


class JumpingSelector(selectors.DefaultSelector):
    """If nothing is ready, jumps to the next timer, or waits for it once it was told to.

    Raises RuntimeError where it jumps and no timer is set, as then nothing could ever happen.
    """

    elapsed = 0.0
    """Seconds that it jumped over."""
    _waits_since: float | None = None

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._waits_since is not None:
            return super().select(timeout)
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("deadlock: every task waits and no timer is set")
        self.elapsed += TURN_S if ready else TURN_S + (timeout or 0.0)
        return ready

    def wait_from_now_on(self) -> None:
        if self._waits_since is None:
            self._waits_since = time.monotonic()

    def now(self) -> float:
        """Return how many seconds have passed."""
        waited = 0.0 if self._waits_since is None else time.monotonic() - self._waits_since
        return self.elapsed + waited


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time is that of its selector, which waits from the first connection or thread on."""

    def __init__(self) -> None:
        self.selector = JumpingSelector()
        super().__init__(self.selector)

    @override
    def time(self) -> float:
        return self.selector.now()

    @override
    async def sock_connect(self, sock: Any, address: Any) -> None:
        self.selector.wait_from_now_on()
        return await super().sock_connect(sock, address)

    @override
    async def create_connection(self, *args: Any, **more: Any) -> Any:
        self.selector.wait_from_now_on()
        return await super().create_connection(*args, **more)

    @override
    async def create_unix_connection(self, *args: Any, **more: Any) -> Any:
        self.selector.wait_from_now_on()
        return await super().create_unix_connection(*args, **more)

    @override
    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        self.selector.wait_from_now_on()
        return super().run_in_executor(executor, func, *args)


@dataclass(slots=True)
class LoopClock:
    """The clock of a machine whose time is that of the running loop."""

    since_s: float = EPOCH_S
    """What its wall clock shows when the loop begins."""

    def now(self) -> float:
        return self.since_s + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


def in_no_time(scene: Callable[[LoopClock], Awaitable[T]]) -> T:
    """Run an async function to its end on a virtual loop, with the clock of that loop."""

    async def whole() -> T:
        return await scene(LoopClock())

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(whole())
