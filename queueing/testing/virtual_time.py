"""An asyncio event loop whose time passes only while all tasks wait: hours of timers in no time.

For code that takes the time from the loop, or from a `Clock`. Code that waits for another process
or the network cannot run on it, because the loop jumps to the next timer instead of waiting.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

from typing_extensions import override

T = TypeVar("T")

EPOCH_S = 1_000_000.0
"""What a wall clock shows when a virtual loop begins: seconds since 1970."""


class JumpingSelector(selectors.DefaultSelector):
    """If nothing is ready, jumps to the next timer.

    Raises RuntimeError where no timer is set, as then nothing could ever happen.
    """

    elapsed = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("deadlock: every task waits and no timer is set")
        if not ready:
            self.elapsed += timeout or 0.0
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time is that of its selector."""

    def __init__(self) -> None:
        self.selector = JumpingSelector()
        super().__init__(self.selector)

    @override
    def time(self) -> float:
        return self.selector.elapsed


class LoopClock:
    """The clock of a machine whose time is that of the running loop."""

    def now(self) -> float:
        return EPOCH_S + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


def in_no_time(scene: Callable[[LoopClock], Awaitable[T]]) -> T:
    """Run an async function to its end on a virtual loop, with the clock of that loop."""

    async def whole() -> T:
        return await scene(LoopClock())

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(whole())
