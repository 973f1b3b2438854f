"""What a balance does to a weight: weight * 2^clamp(balance / (horizon * entitlement), -m, m)."""

from fractions import Fraction
from functools import lru_cache

from queueing.core.credits.facts import PART

STEPS = 1024
"""Steps of a doubling: a weight is bent in steps of 0.07 %, so that it rarely changes."""
_FINE = 1 << 32


def exponent(balance: int, *, entitlement: int, horizon_s: int, bound: int) -> int:
    """Return the exponent in steps; 0 for whoever is entitled to nothing.

    `balance` is in parts of a micro-credit, `entitlement` in micro-credits per second. Rounded
    towards 0.
    """
    whole = PART * horizon_s * entitlement
    if whole <= 0:
        return 0
    most = bound * STEPS
    size = min(abs(balance) * STEPS // whole, most)
    return size if balance >= 0 else -size


@lru_cache(maxsize=65536)
def factor(steps: int) -> Fraction:
    """Return what a weight is multiplied by."""
    size = Fraction(round(float(2.0 ** (abs(steps) / STEPS)) * _FINE), _FINE)
    return size if steps >= 0 else 1 / size
