"""What the duration of our own writes says: whether the API server is slow, how much it can take.

`Pressure` says whether writes that can wait should. The server counts as *pressed* while the mean
duration of writes is a multiple of the best one. The best duration is remembered, and grows a
little with each write, so that a server that has become slower for good does not count as pressed
for ever. It counts as *at rest* only after some seconds without a pressed moment, since there are
good moments between the writes of a burst, too.

`Window` limits how many writes of decisions are in flight: fewer while each takes long. Writes wait
for each other in the API server. One that exceeds its timeout has an unclear outcome and costs a
resend, a refusal and a read: a server that is too slow for so many writes would get even more
requests. So the limit is adapted as TCP adapts its congestion window (additive increase,
multiplicative decrease): per window of writes it grows by one, or shrinks to a half if they are
slow. A term begins with a small limit, which grows by one with each write until the first slow one,
because the server may have been too slow for the leader before.
"""

from dataclasses import dataclass

from queueing.clock import Clock

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
LEAST = 4
"""The smallest limit: some writes must go on to show when the server is fast again."""
PATIENCE_SHARE = 1 / 3
"""A write that takes more than this fraction of its timeout is slow: others sent at the same time
take longer."""
SHRINKS_BY = 0.5
"""By how much each slow write shrinks the limit; a whole window of them halves it."""


@dataclass(slots=True)
class Window:
    """A limit of `LEAST` to `most` writes; a write is slow that takes longer than `slow_s`.

    Who lowers `most` lowers the limit at once; the next slow write shrinks it from there.
    """

    most: int
    slow_s: float
    _size: float = float(LEAST)
    _begins: bool = True
    """No write was slow yet."""

    @property
    def size(self) -> int:
        """How many writes may be in flight now."""
        return min(int(self._size), self.most)

    def took(self, seconds: float) -> None:
        """Adapt the limit to how long a write took."""
        if seconds > self.slow_s:
            self._begins = False
            self._size = max(min(self._size, self.most) - SHRINKS_BY, float(LEAST))
        else:
            grows_by = 1.0 if self._begins else 1 / self._size
            self._size = min(self._size + grows_by, float(self.most))


@dataclass(slots=True)
class Pressure:
    """The durations of all writes; `writes` counts them."""

    clock: Clock
    window: Window | None = None
    """Limits the decisions in flight, by how long writes take."""
    writes: int = 0
    _best_s: float = float("inf")
    _mean_s: float = 0.0
    _row: int = 0
    """Number of writes since the last pause of `MEMORY_S`."""
    _is_slow: bool = False
    _last: float = float("-inf")
    _until: float = float("-inf")

    def took(self, seconds: float) -> None:
        """Note how long a write took that ended just now."""
        now = self.clock.monotonic()
        self.writes += 1
        self._best_s = min(self._best_s * GROWTH, seconds)
        fresh = now - self._last > MEMORY_S
        self._mean_s = seconds if fresh else self._mean_s + (seconds - self._mean_s) * SHARE
        self._row = 1 if fresh else self._row + 1
        self._last = now
        self._is_slow = self._row >= SEVERAL and self._mean_s > max(LEAST_S, TIMES * self._best_s)
        if self._is_slow:
            self._until = now + CALM_S
        if self.window is not None:
            self.window.took(seconds)

    def is_high(self) -> bool:
        """Say whether the server is pressed now."""
        return self._is_slow and self.clock.monotonic() - self._last <= MEMORY_S

    def was_high(self) -> bool:
        """Say whether the server is not at rest: pressed now or in the last `CALM_S`."""
        return self.clock.monotonic() < self._until
