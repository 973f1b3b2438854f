"""What expressions compute with, and the three ways in which they have no answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from queueing_api.quantity import NANO_PER_UNIT, QuantityError, parse

INT_MIN, INT_MAX = -(2**63), 2**63 - 1

Value = Any
"""bool, int, float, str, None, list, dict, Amount, Version, Maybe."""


class InvalidError(ValueError):
    """An expression that the API server would refuse."""


class UnsupportedError(ValueError):
    """Something that is not evaluated here although Kubernetes may; the text names it."""


class RuntimeProblemError(ValueError):
    """An expression that fails on this device: the scheduler would abort the pod."""


class MissingKeyError(RuntimeProblemError):
    """A key that a map does not have; on a device, an attribute or capacity that is not there."""

    def __init__(self, key: str) -> None:
        super().__init__(f"no such key: {key}")
        self.key = key


@total_ordering
@dataclass(frozen=True, slots=True)
class Amount:
    """A Kubernetes quantity."""

    nano: int

    def __lt__(self, other: "Amount") -> bool:
        return self.nano < other.nano


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version, whose build metadata counts for nothing."""

    numbers: tuple[int, int, int]
    early: tuple[str, ...] = ()
    """Identifiers of a pre-release."""

    def __lt__(self, other: "Version") -> bool:
        return self._rank() < other._rank()

    def _rank(self) -> tuple[Any, ...]:
        """Order pre-releases first, numbers before words, fewer identifiers before more."""
        ranked = tuple((0, int(one), "") if one.isdecimal() else (1, 0, one) for one in self.early)
        return self.numbers, 0 if self.early else 1, ranked


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional value."""

    present: bool
    value: Value = None


NOTHING = Maybe(present=False)

_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_LOOSE = re.compile(r"v?([0-9]+(?:\.[0-9]+){0,2})([-+].*)?", re.DOTALL)


def amount(text: str) -> Amount:
    """Read a quantity. Raises RuntimeProblemError."""
    try:
        return Amount(parse(text).nano)
    except QuantityError as error:
        raise RuntimeProblemError(f"{text!r} is no quantity: {error}") from error


def version(text: str, *, normalize: bool = False) -> Version:
    """Read a semantic version; a normalized one may lack numbers. Raises RuntimeProblemError."""
    if normalize and (loose := _LOOSE.fullmatch(text)):
        numbers = [str(int(one)) for one in loose.group(1).split(".")]
        text = ".".join([*numbers, "0", "0"][:3]) + (loose.group(2) or "")
    found = _VERSION.fullmatch(text)
    early = tuple((found.group(4) or "").split(".")) if found and found.group(4) else ()
    if found is None or any(one.isdecimal() and one != "0" and one[0] == "0" for one in early):
        raise RuntimeProblemError(f"{text!r} is no semantic version")
    return Version((int(found[1]), int(found[2]), int(found[3])), early)


def kind_of(value: Value) -> str:
    """Return the name of a value's type."""
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return name
    raise UnsupportedError(f"a value of {type(value).__name__}")


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (list, "list"),
    (Mapping, "map"),
    (Amount, "quantity"),
    (Version, "semver"),
    (Maybe, "optional"),
    (type(None), "null"),
)
_NUMBERS = frozenset({"int", "double"})
ORDERED = frozenset({"bool", "int", "double", "string"})


def equal(left: Value, right: Value) -> bool:
    """Compare as CEL does: numbers by value, everything else within its own type."""
    kinds = {kind_of(left), kind_of(right)}
    if len(kinds) > 1 and not kinds <= _NUMBERS:
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return bool(left == right)


def truth(value: Value) -> bool:
    """Return a bool that has to be one. Raises RuntimeProblemError."""
    if isinstance(value, bool):
        return value
    raise RuntimeProblemError(f"a {kind_of(value)} is no condition")


def in_range(number: int) -> int:
    """Return a number that fits 64 bits. Raises RuntimeProblemError for others."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise RuntimeProblemError("integer overflow")


def whole(found: Amount) -> int:
    """Return a quantity as an int. Raises RuntimeProblemError when it is none."""
    units, rest = divmod(found.nano, NANO_PER_UNIT)
    if rest:
        raise RuntimeProblemError("cannot convert value to integer")
    return in_range(units)
