"""Virtual time for simulations: events on a heap, run in the order of their time.

An event costs a fraction of a microsecond, much less than in an asyncio loop with a fake clock.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

Happening = Callable[[float], None]
"""Called with the time at which it happens."""


@dataclass(slots=True)
class VirtualTime:
    """Runs happenings in order of time, and those of one time in the order they were planned."""

    now: float = 0.0
    _heap: list[tuple[float, int, Happening]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)

    def at(self, when: float, happening: Happening) -> None:
        """Plan a happening; one that is planned for the past happens now."""
        heapq.heappush(self._heap, (max(when, self.now), next(self._order), happening))

    def after(self, delay_s: float, happening: Happening) -> None:
        """Plan a happening some seconds from now."""
        self.at(self.now + delay_s, happening)

    @property
    def next_at(self) -> float | None:
        """Time of the next happening, None when nothing is planned."""
        return self._heap[0][0] if self._heap else None

    def step(self) -> bool:
        """Advance to the next time and run all that is planned for it; False when nothing is."""
        if not self._heap:
            return False
        self.now = self._heap[0][0]
        while self._heap and self._heap[0][0] <= self.now:
            _, _, happening = heapq.heappop(self._heap)
            happening(self.now)
        return True
