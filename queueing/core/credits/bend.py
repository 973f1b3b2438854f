"""What a balance does to a weight: weight * 2^clamp(balance / (horizon * entitlement), -m, m)."""

from fractions import Fraction
from functools import lru_cache

from queueing.core.credits.facts import PART

STEPS = 1024
"""Steps per doubling: a weight is bent in steps of 0.07 %, so that it rarely changes."""
_FINE = 1 << 32


def exponent(balance: int, *, entitlement: int, horizon_s: int, bound: int) -> int:
    """Return the exponent in steps, rounded towards 0; 0 without an entitlement.

    `balance` is in parts of a micro-credit (`PART`), `entitlement` in micro-credits per second,
    and `bound` is the largest exponent in doublings.
    """
    whole = PART * horizon_s * entitlement
    if whole <= 0:
        return 0
    most = bound * STEPS
    size = min(abs(balance) * STEPS // whole, most)
    return size if balance >= 0 else -size


@lru_cache(maxsize=65536)
def factor(steps: int) -> Fraction:
    """Return the factor 2^(steps / STEPS) of a weight."""
    size = Fraction(round(float(2.0 ** (abs(steps) / STEPS)) * _FINE), _FINE)
    return size if steps >= 0 else 1 / size
