"""How long to wait before trying again."""

import random
from collections.abc import Callable
from dataclasses import dataclass

Draw = Callable[[], float]
"""A source of numbers in [0, 1); tests give a constant."""

draw: Draw = random.SystemRandom().random

_DOUBLINGS_MAX = 60


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double from `first_s` up to `max_s`, each shortened at random by up to half.

    The spread keeps many clients of one server that comes back from arriving together.
    """

    first_s: float
    max_s: float

    def delay(self, attempt: int, draw: Draw = draw) -> float:
        """Return the seconds to wait after failure number `attempt`, counted from 0."""
        full = min(self.max_s, self.first_s * 2.0 ** min(attempt, _DOUBLINGS_MAX))
        return full * (1.0 - draw() / 2)
