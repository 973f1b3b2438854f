"""Puts off what nobody waits for while the API server is pressed, and no longer than promised.

What is put off is looked at anew when its time comes: by then it may be due no more, and then it
was one write less.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn

from queueing.clock import Clock
from queueing.kube.pressure import Pressure

LOOK_EVERY_S = 0.25
AT_ONCE_MAX = 8
"""Looks begun at once when the server is at rest: 32 in a second, or it would not stay so."""
CALLED_S = 10.0
"""How long whoever was called may take to come."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    until: float
    again: Callable[[], None]


@dataclass(slots=True)
class Deferral:
    """What was put off, in the order in which it came."""

    pressure: Pressure
    clock: Clock
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _called: dict[str, float] = field(default_factory=dict)
    """Those whose time has come, and until when they are let through."""

    def is_pressed(self) -> bool:
        """Say whether the server is pressed, so that what can wait should."""
        return self.pressure.is_high(self.clock.monotonic())

    def was_pressed(self) -> bool:
        """Say whether the server is not at rest, so that what need not be soon should wait."""
        return self.pressure.was_high(self.clock.monotonic())

    def puts_off(self, name: str, again: Callable[[], None], at_most_s: float) -> bool:
        """Say whether a write has to wait; then `again` is called when its time has come."""
        if name in self._called:
            del self._called[name]
            return False
        now = self.clock.monotonic()
        if not self.pressure.was_high(now):
            self._waiting.pop(name, None)
            return False
        self._waiting.setdefault(name, _Waiting(now + at_most_s, again))
        return True

    async def run(self) -> NoReturn:
        """Call those whose time has come, for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self.call()

    def call(self) -> None:
        """Call the oldest ones when the server is at rest, and whoever has waited long enough."""
        now = self.clock.monotonic()
        self._called = {name: until for name, until in self._called.items() if until > now}
        due = [name for name, one in self._waiting.items() if one.until <= now]
        if not self.pressure.was_high(now):
            due += islice(self._waiting, AT_ONCE_MAX)
        for name in dict.fromkeys(due):
            self._called[name] = now + CALLED_S
            self._waiting.pop(name).again()
