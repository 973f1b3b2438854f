"""Measures how late the event loop wakes up, which shows how long one piece of work blocks it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NoReturn

from queueing.clock import Clock

EVERY_S = 0.25
LATELY = 40
"""Number of measurements of which the worst is reported: ten seconds."""


async def measure(tell: Callable[[float], None], clock: Clock) -> NoReturn:
    """Call `tell` every `EVERY_S` with the worst delay of the last `LATELY` sleeps, in seconds."""
    late: deque[float] = deque(maxlen=LATELY)
    while True:
        wanted = clock.monotonic() + EVERY_S
        await asyncio.sleep(EVERY_S)
        late.append(max(clock.monotonic() - wanted, 0.0))
        tell(max(late))
