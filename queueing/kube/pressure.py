"""Whether the API server is slower than it can be, told by how long our own writes take.

What a server can do is not known beforehand, so its best time is remembered, and grows again a
little with each write: a server that got slower for good is not pressed for ever. Between two of
many admissions there is always a good moment; only after a while of those it is at rest.
"""

from dataclasses import dataclass

TIMES = 3.0
"""A write takes so many times the best one when the server is pressed."""
LEAST_S = 0.02
"""Nobody waits for less. Two cores on which 32 writes are always under way take four times that."""
MEMORY_S = 1.0
"""Without writes for so long there is nobody to be in the way of."""
CALM_S = 3.0
"""It is at rest after so long without a moment in which it was pressed."""
SEVERAL = 16
"""Fewer writes in a row say nothing: the first ones wait for connections and cold caches."""
SHARE = 0.1
"""What one write counts in the mean."""
GROWTH = 1.0001
"""What the best time grows by with each write: it doubles in about 7,000 of them."""


@dataclass(slots=True)
class Pressure:
    """Hears of writes; times are seconds of a monotonic clock. `writes` counts them all."""

    writes: int = 0
    _best_s: float = float("inf")
    _mean_s: float = 0.0
    _row: int = 0
    """Writes without a pause."""
    _last: float = float("-inf")
    _until: float = float("-inf")

    def took(self, seconds: float, now: float) -> None:
        """Note how long a write took that has just ended."""
        self.writes += 1
        self._best_s = min(self._best_s * GROWTH, seconds)
        fresh = now - self._last > MEMORY_S
        self._mean_s = seconds if fresh else self._mean_s + (seconds - self._mean_s) * SHARE
        self._row = 1 if fresh else self._row + 1
        self._last = now
        if self._is_slow():
            self._until = now + CALM_S

    def is_high(self, now: float) -> bool:
        """Say whether writes that can wait would delay others now."""
        return now - self._last <= MEMORY_S and self._is_slow()

    def was_high(self, now: float) -> bool:
        """Say whether they would have a little while ago, and so are likely to do so again."""
        return now < self._until

    def _is_slow(self) -> bool:
        return self._row >= SEVERAL and self._mean_s > max(LEAST_S, TIMES * self._best_s)
