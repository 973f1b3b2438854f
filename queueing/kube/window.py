"""Limits how many writes of decisions are in flight: fewer while each takes long.

Writes wait for each other in the API server. One that exceeds its timeout has an unclear outcome
and costs a resend, a refusal and a read: a server that is too slow for so many writes would get
even more requests. So the limit is adapted as TCP adapts its congestion window (additive increase,
multiplicative decrease): per window of writes it grows by one, or shrinks to a half if they are
slow. A term begins with a small limit, which grows by one with each write until the first slow one,
because the server may have been too slow for the leader before.
"""

from dataclasses import dataclass

LEAST = 4
"""The smallest limit: some writes must go on to show when the server is fast again."""
PATIENCE_SHARE = 1 / 3
"""A write that takes more than this fraction of its timeout is slow: others sent at the same time
take longer."""
SHRINKS_BY = 0.5
"""By how much each slow write shrinks the limit; a whole window of them halves it."""


@dataclass(slots=True)
class Window:
    """A limit of `LEAST` to `most` writes; a write is slow that takes longer than `slow_s`."""

    most: int
    slow_s: float
    _size: float = float(LEAST)
    _begins: bool = True
    """No write was slow yet."""

    @property
    def size(self) -> int:
        """How many writes may be in flight now."""
        return int(self._size)

    def took(self, seconds: float) -> None:
        """Adapt the limit to how long a write took."""
        if seconds > self.slow_s:
            self._begins = False
            self._size = max(self._size - SHRINKS_BY, float(LEAST))
        else:
            grows_by = 1.0 if self._begins else 1 / self._size
            self._size = min(self._size + grows_by, float(self.most))
