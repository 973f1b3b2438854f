"""Decay by half-life, at fixed points in time.

Balances shrink at whole multiples of a step since the epoch. A half-life is 1024 steps (a step is
at least one second). Credits do not decay within the step in which they are earned, an error of
0.04 %; in return sums are exact, and do not depend on when they are computed.
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
        """The fraction that one step leaves, in units of 2^-32."""
        return self.kept_after(self.step_s)

    def kept_after(self, seconds: int) -> int:
        """Return the fraction that is left after `seconds`, in units of 2^-32.

        It is 0.5^(seconds / half-life).
        """
        return round(float(0.5 ** (seconds / self.half_life_s)) * _ONE)


def shrink(balance: int, kept: int) -> int:
    """Return what is kept of a surplus or debt, rounded towards 0; `kept` is as in `Decay`."""
    left = abs(balance) * kept // _ONE
    return left if balance >= 0 else -left
