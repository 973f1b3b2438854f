"""How late the event loop wakes up: what a stretch of work that holds it up costs everybody."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NoReturn

from queueing.clock import Clock

EVERY_S = 0.25
LATELY = 40
"""Looks over which the worst is told: ten seconds, more than between two scrapes of a dashboard."""


async def measure(tell: Callable[[float], None], clock: Clock) -> NoReturn:
    """Tell again and again how late we woke up at worst lately, in seconds; for ever."""
    late: deque[float] = deque(maxlen=LATELY)
    while True:
        wanted = clock.monotonic() + EVERY_S
        await asyncio.sleep(EVERY_S)
        late.append(max(clock.monotonic() - wanted, 0.0))
        tell(max(late))
