"""Where the shell gets its time from; core, state, translate and sim get theirs as an argument.

Two readings, because they answer different questions: what the wall says (written into objects,
compared between machines) and how long something took (leases, timeouts), which no change of the
wall clock may bend.
"""

import time
from functools import partial
from typing import Protocol


class Clock(Protocol):
    """The two readings of time that the shell uses, both in seconds."""

    def now(self) -> float:
        """Return the time of day as seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds since a fixed moment; never goes back, and counts a machine's sleep."""
        ...


_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """The machine's own clocks.

    `monotonic` reads CLOCK_BOOTTIME where there is one: CLOCK_MONOTONIC stands still while a
    machine is suspended, and a lease that lapsed during the sleep would look valid afterwards.
    """

    now = staticmethod(time.time)
    monotonic = staticmethod(partial(time.clock_gettime, _ELAPSED))
