"""Two cores, shared equally by all that runs on them."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from queueing.sim.virtual_time import VirtualTime

CORES = 2


@dataclass(slots=True)
class Cores:
    """Runs jobs, each on one core at most; with more jobs than cores all get the same part.

    `_progress` is the CPU time that a job got which has run from the beginning, so the job that
    ends next is always the one whose progress at its end is least.
    """

    time: VirtualTime
    used_s: float = 0.0
    """CPU seconds spent so far."""
    _progress: float = 0.0
    _since: float = 0.0
    _jobs: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)
    _plan: int = 0
    """Which of the planned ends holds; the ones before were planned for fewer or more jobs."""

    def run(self, cpu_s: float, done: Callable[[], object]) -> None:
        """Run a job that takes so many CPU seconds, and call `done` when it ends."""
        self._advance()
        heapq.heappush(self._jobs, (self._progress + cpu_s, next(self._order), done))
        self._plan_next()

    def _speed(self) -> float:
        return min(1.0, CORES / len(self._jobs)) if self._jobs else 0.0

    def _advance(self) -> None:
        gained = (self.time.now - self._since) * self._speed()
        self._progress += gained
        self.used_s += gained * len(self._jobs)
        self._since = self.time.now

    def _plan_next(self) -> None:
        self._plan += 1
        if self._jobs:
            left_s = max(0.0, self._jobs[0][0] - self._progress) / self._speed()
            self.time.after(left_s, partial(self._end, self._plan))

    def _end(self, plan: int, _now: float) -> None:
        if plan != self._plan:
            return
        self._advance()
        self._progress, _, done = heapq.heappop(self._jobs)
        self._plan_next()
        done()
