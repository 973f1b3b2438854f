"""Measures whether the API server is slow, by how long our own writes take.

The server counts as *pressed* while the mean duration of writes is a multiple of the best one. The
best duration is remembered, and grows a little with each write, so that a server that has become
slower for good does not count as pressed for ever. It counts as *at rest* only after some seconds
without a pressed moment, since there are good moments between the writes of a burst, too.
"""

from dataclasses import dataclass

TIMES = 3.0
"""The server is pressed when the mean duration is so many times the best one."""
LEAST_S = 0.02
"""A mean duration below this, in seconds, is never pressed. A server on two cores with 32 writes in
flight takes four times as long."""
MEMORY_S = 1.0
"""After so many seconds without a write the server is not pressed, and the mean begins anew."""
CALM_S = 3.0
"""Seconds after the last pressed moment until the server is at rest."""
SEVERAL = 16
"""With fewer writes since the last pause the server is not pressed: the first ones may wait for
connections and cold caches."""
SHARE = 0.1
"""The weight of the newest write in the (exponential) mean."""
GROWTH = 1.0001
"""The factor by which the best duration grows with each write: it doubles in about 7,000."""


@dataclass(slots=True)
class Pressure:
    """The durations of all writes; times are seconds of a monotonic clock, `writes` counts them."""

    writes: int = 0
    _best_s: float = float("inf")
    _mean_s: float = 0.0
    _row: int = 0
    """Number of writes since the last pause of `MEMORY_S`."""
    _last: float = float("-inf")
    _until: float = float("-inf")

    def took(self, seconds: float, now: float) -> None:
        """Note how long a write took that ended just now."""
        self.writes += 1
        self._best_s = min(self._best_s * GROWTH, seconds)
        fresh = now - self._last > MEMORY_S
        self._mean_s = seconds if fresh else self._mean_s + (seconds - self._mean_s) * SHARE
        self._row = 1 if fresh else self._row + 1
        self._last = now
        if self._is_slow():
            self._until = now + CALM_S

    def is_high(self, now: float) -> bool:
        """Say whether the server is pressed now."""
        return now - self._last <= MEMORY_S and self._is_slow()

    def was_high(self, now: float) -> bool:
        """Say whether the server is not at rest: pressed now or in the last `CALM_S`."""
        return now < self._until

    def _is_slow(self) -> bool:
        return self._row >= SEVERAL and self._mean_s > max(LEAST_S, TIMES * self._best_s)
