"""How long a workload stays out of its queue after its pods were not ready in time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """`base · 2^(attempt-1)` seconds, at most `max_s`; `limit` is the largest number of attempts.

    It is Kueue's `waitForPodsReady.requeuingStrategy` without the jitter of a ten-thousandth, so
    that the same facts give the same times.
    """

    base_s: float = 60.0
    max_s: float = 3600.0
    limit: int | None = None

    def delay_s(self, attempt: int) -> float:
        """Return the wait after the given attempt, the first being 1."""
        exponent = min(attempt - 1, 62)  # beyond that the maximum is reached anyway
        return min(self.base_s * float(2**exponent), self.max_s)

    def exhausted(self, attempt: int) -> bool:
        """Say whether an attempt exceeds the limit."""
        return self.limit is not None and attempt > self.limit
