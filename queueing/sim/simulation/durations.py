"""Lengths of time that are the same each time, or drawn from a distribution."""

import random
from dataclasses import dataclass
from math import log
from typing import Any

from queueing_api.config.duration import seconds_of

FORMS = (
    "a duration such as 90s or 1h30m, or one of {exponential: MEAN}, {uniform: [LEAST, MOST]}, "
    "{lognormal: {median: MEDIAN, sigma: NUMBER up to 10}} and {choice: [DURATION, ...]}, "
    "no duration over 876600h"
)
"""How a length may be written."""
LONGEST_S = 876_600 * 3_600.0
"""A hundred years; what is drawn is no longer either."""
SIGMA_MAX = 10.0
"""A draw in six then is more than 20,000 times the median."""


class DurationError(ValueError):
    """A length that is not written in one of the forms."""


@dataclass(frozen=True, slots=True)
class Length:
    """A distribution of seconds: its name, and what it is drawn with."""

    form: str
    numbers: tuple[float, ...]

    def draw(self, chance: random.Random) -> float:
        """Return a number of seconds, drawn with a source of chance."""
        return min(self._draw(chance), LONGEST_S)

    def _draw(self, chance: random.Random) -> float:
        numbers = self.numbers
        match self.form:
            case "exponential":
                return chance.expovariate(1 / numbers[0]) if numbers[0] else 0.0
            case "uniform":
                return chance.uniform(*numbers)
            case "lognormal":
                median, sigma = numbers
                return chance.lognormvariate(log(median), sigma)
            case _:
                return numbers[0] if len(numbers) == 1 else chance.choice(numbers)

    @property
    def is_fixed(self) -> bool:
        """Whether each draw is the same."""
        return self.form == "choice" and len(self.numbers) == 1


def fixed(seconds: float) -> Length:
    """Return a length that is the same each time."""
    return Length("choice", (seconds,))


def read_length(written: Any) -> Length:
    """Read a length. Raises DurationError with what may be written instead."""
    try:
        return _read(written)
    except (ValueError, TypeError, KeyError) as error:
        raise DurationError(f"must be {FORMS}") from error


def _read(written: Any) -> Length:
    if not isinstance(written, dict):
        return fixed(_seconds(written))
    ((form, given),) = written.items()
    match form:
        case "exponential":
            return Length(form, (_seconds(given),))
        case "uniform":
            least, most = map(_seconds, given)
            if most < least:
                raise DurationError(form)
            return Length(form, (least, most))
        case "lognormal":
            median, sigma = _seconds(given["median"]), float(given["sigma"])
            if not median or not 0 <= sigma <= SIGMA_MAX or len(given) > len(("median", "sigma")):
                raise DurationError(form)
            return Length(form, (median, sigma))
        case "choice":
            return Length(form, tuple(map(_seconds, given)) or (_seconds(None),))
        case _:
            raise DurationError(form)


def _seconds(written: Any) -> float:
    """Read a duration that is neither negative nor too long; 0 may be written without a unit."""
    if written == 0 and not isinstance(written, bool):
        return 0.0
    if not isinstance(written, str):
        raise TypeError(written)
    found = seconds_of(written)
    if not 0 <= found <= LONGEST_S:
        raise DurationError(written)
    return found
