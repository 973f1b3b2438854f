"""A clock that stands still until it is set: for code that asks a `Clock` and never waits itself.

Code that sleeps, or runs into timeouts, belongs on the loop of `virtual_time`.
"""

from dataclasses import dataclass


@dataclass
class HandClock:
    """Both of its readings, in seconds, are what a test last set."""

    time: float = 1_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time
