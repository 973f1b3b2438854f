"""Puts off writes that can wait while the API server is slow, each for a bounded time.

A reconciler asks `puts_off` before such a write, and does not write when told to wait. When the
server is at rest again, or the time is over, its callback asks for the object to be reconciled
again: by then the write may no longer be needed, which saves it.

The server counts as *pressed* while our own writes take long, and as *at rest* some seconds after
the last such moment (`kube.pressure`).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn

from queueing.kube.pressure import Pressure

LOOK_EVERY_S = 0.25
AT_ONCE_MAX = 8
"""Callbacks made at once when the server is at rest: 32 per second, so that it stays at rest."""
CALLED_S = 10.0
"""Seconds after its callback for which a write is let through without being put off again."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A write that was put off, and until when at the latest (monotonic clock)."""

    until: float
    again: Callable[[], None]


@dataclass(slots=True)
class Deferral:
    """The writes that were put off, by name, in the order in which they were."""

    pressure: Pressure
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _called: dict[str, float] = field(default_factory=dict)
    """Writes whose callback was made, by name, and until when they are let through."""

    def puts_off(self, name: str, again: Callable[[], None], at_most_s: float) -> bool:
        """Say whether the write of this name must wait, for `at_most_s` seconds.

        If so, `again` is called when it need not wait any longer, and the next call of this within
        `CALLED_S` says False.
        """
        if name in self._called:
            del self._called[name]
            return False
        if not self.pressure.was_high():
            self._waiting.pop(name, None)
            return False
        self._waiting.setdefault(name, _Waiting(self.pressure.clock.monotonic() + at_most_s, again))
        return True

    async def run(self) -> NoReturn:
        """Make the callbacks that are due, for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self.call()

    def call(self) -> None:
        """Make the callbacks whose time is over and, if the server is at rest, the oldest few."""
        now = self.pressure.clock.monotonic()
        self._called = {name: until for name, until in self._called.items() if until > now}
        due = [name for name, one in self._waiting.items() if one.until <= now]
        if not self.pressure.was_high():
            due += islice(self._waiting, AT_ONCE_MAX)
        for name in dict.fromkeys(due):
            self._called[name] = now + CALLED_S
            self._waiting.pop(name).again()
