"""How long a workload stays out of its queue after it failed to start."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """`base · 2^(attempt-1)` seconds, at most `max_s`; with a limit, so many attempts at all.

    Kueue's `requeuingStrategy`, without its jitter of a ten-thousandth: the same facts give the
    same times.
    """

    base_s: float = 60.0
    max_s: float = 3600.0
    limit: int | None = None

    def delay_s(self, attempt: int) -> float:
        """Return the wait after the given attempt, the first being 1."""
        exponent = min(attempt - 1, 62)  # beyond that every base has met its maximum
        return min(self.base_s * float(2**exponent), self.max_s)

    def exhausted(self, attempt: int) -> bool:
        """Say whether the attempt is one more than allowed."""
        return self.limit is not None and attempt > self.limit
