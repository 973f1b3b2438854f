"""Decay by half-life, at fixed points in time.

Balances shrink at whole multiples of a step since the epoch, 1024 of which make a half-life (or
every second, if that is shorter). What is earned within one step does not yet decay, which is a
matter of 0.04 %, and in return every sum is exact: who integrates at other times gets the same.
"""

from dataclasses import dataclass

STEPS_PER_HALF_LIFE = 1024
_ONE = 1 << 32


@dataclass(frozen=True, slots=True)
class Decay:
    """How balances shrink."""

    half_life_s: int

    @property
    def step_s(self) -> int:
        """Seconds between two points."""
        return max(1, self.half_life_s // STEPS_PER_HALF_LIFE)

    def next_point(self, after: int) -> int:
        """Return the first point later than a time."""
        return (after // self.step_s + 1) * self.step_s

    @property
    def kept(self) -> int:
        """What one step leaves, in 2^-32."""
        return self.kept_after(self.step_s)

    def kept_after(self, seconds: int) -> int:
        """Return what so many seconds leave, in 2^-32: 0.5^(seconds / half-life)."""
        return round(float(0.5 ** (seconds / self.half_life_s)) * _ONE)


def shrink(balance: int, kept: int) -> int:
    """Return what is kept of a surplus or of a debt, rounded towards 0."""
    left = abs(balance) * kept // _ONE
    return left if balance >= 0 else -left
