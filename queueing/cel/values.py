"""What expressions compute with, and the four ways in which they have no answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, total_ordering
from typing import Any, NamedTuple

from queueing_api.quantity import NANO_PER_UNIT, QuantityError, parse

INT_MIN, INT_MAX = -(2**63), 2**63 - 1

Value = Any
"""bool, int, float, str, None, list, dict, Amount, Version, Duration, Maybe."""


class CelError(ValueError):
    """An expression that has no answer; the class says why, the text what of it."""


class InvalidError(CelError):
    """An expression that the API server would refuse."""


class UnsupportedError(CelError):
    """Something that is not evaluated here although Kubernetes may; the text names it."""


class TooCostlyError(CelError):
    """An evaluation that was given up: it took more steps than one may."""


class RuntimeProblemError(CelError):
    """An expression that fails on what it is evaluated on, in Kubernetes as here."""


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
    scale: int | None = field(default=0, compare=False)
    """Power of ten of which Kubernetes keeps a 64-bit number; None where it keeps a long one. It
    says that a quantity is whole only of the first, with no digits behind the point."""
    is_sum: bool = field(default=False, compare=False)
    """Whether it came out of `add` or `sub`: Kubernetes fails to compare anything with it."""

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


@total_ordering
@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time, in nanoseconds of 64 bits."""

    nano: int

    def __lt__(self, other: "Duration") -> bool:
        return self.nano < other.nano


class Maybe(NamedTuple):
    """An optional value."""

    present: bool
    value: Value = None


NOTHING = Maybe(present=False)

_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_SPELLED = re.compile(r"[+-]?0*([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?")
_BITS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_TENS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DIGITS_MAX, _NANO = 18, 9
_LOOSE = re.compile(r"v?([0-9]+(?:\.[0-9]+){0,2})([-+].*)?", re.DOTALL)
_LENGTHS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9}
_LENGTHS |= {"m": 60 * 10**9, "h": 3600 * 10**9}
_LENGTH = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_WHOLE_LENGTH = re.compile(rf"([+-]?)(0|(?:{_LENGTH.pattern})+)")


@lru_cache(maxsize=4096)
def amount(text: str) -> Amount:
    """Read a quantity. Raises RuntimeProblemError."""
    try:
        return Amount(parse(text).nano, _scale(text))
    except QuantityError as error:
        raise RuntimeProblemError(f"{text!r} is no quantity: {error}") from error


def _scale(text: str) -> int | None:
    """Return how Kubernetes keeps a quantity that was spelled so."""
    found = _SPELLED.fullmatch(text)
    if found is None:
        return None
    digits, behind, suffix = found[1] or "0", found[2] or "", found[3] or ""
    if suffix in _BITS:
        room = 14 - len(digits) - _BITS[suffix] * 3 // 10
        return 0 if not behind and room >= 0 else None
    power = int(suffix[1:]) if suffix[:1] in ("e", "E") and suffix[1:] else _TENS[suffix]
    scale = power - len(behind)
    return scale if len(digits) + len(behind) <= _DIGITS_MAX and scale >= -_NANO else None


def sum_of(left: Amount, right: Amount, sign: int = 1) -> Amount:
    """Add two quantities, or with sign -1 take the second away."""
    if left.scale is None:
        raise UnsupportedError("a sum of a long quantity, which changes that one, too,")
    if sign < 0 and right.nano == INT_MIN * NANO_PER_UNIT:
        raise UnsupportedError("to take the smallest number away")
    nano = left.nano + sign * right.nano
    return Amount(nano, _scale_of_sum(left, right, nano), is_sum=True)


def _scale_of_sum(left: Amount, right: Amount, nano: int) -> int | None:
    if left.scale is None or right.scale is None:
        return None
    if not right.nano or not left.nano:
        return left.scale if not right.nano else right.scale
    scale = min(left.scale, right.scale)
    fits = all(_fits(one, scale) for one in (left.nano, right.nano, nano))
    return scale if fits else None


def _fits(nano: int, scale: int) -> bool:
    unit: int = 10 ** (_NANO + scale)
    return INT_MIN <= nano // unit <= INT_MAX


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


def duration(text: str) -> Duration:
    """Read a duration as Go does. Raises RuntimeProblemError."""
    found = _WHOLE_LENGTH.fullmatch(text)
    parts = [] if found is None or found[2] == "0" else list(_LENGTH.finditer(found[2]))
    if found is None or any(not (part[1] or part[2]) for part in parts):
        raise RuntimeProblemError(f"{text!r} is no duration")
    nano = 0
    for part in parts:
        unit, behind = _LENGTHS[part[3]], part[2] or ""
        nano += int(part[1] or "0") * unit + int(behind or "0") * unit // 10 ** len(behind)
    return Duration(in_range(-nano if found[1] == "-" else nano))


def kind_of(value: Value) -> str:
    """Return the name of a value's type."""
    found = _NAMES.get(type(value))
    if found is not None:
        return found
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
    (Duration, "duration"),
    (Maybe, "optional"),
    (type(None), "null"),
)
_NAMES = {kind: name for kind, name in _KINDS if kind is not Mapping} | {dict: "map"}
_PLAIN = frozenset({str, int, bool, type(None)})
"""Types of which Python compares values as CEL does."""
_NUMBERS = frozenset({"int", "double"})
ORDERED = frozenset({"bool", "int", "double", "string", "duration"})


def equal(left: Value, right: Value) -> bool:
    """Compare as CEL does: numbers by value, everything else within its own type."""
    if type(left) is type(right) and type(left) in _PLAIN:
        return bool(left == right)
    kind, other = kind_of(left), kind_of(right)
    if kind != other and not (kind in _NUMBERS and other in _NUMBERS):
        if isinstance(left, (Amount, Version)):
            raise RuntimeProblemError(f"no such overload: == of {kind} and {other}")
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, Amount) and isinstance(right, Amount) and right.is_sum:
        raise RuntimeProblemError("no such overload: == and a quantity that was added up")
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return bool(left == right)


def truth(value: Value) -> bool:
    """Return a bool that has to be one. Raises RuntimeProblemError."""
    if value is True or value is False:
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
    if rest or found.scale is None or found.scale < 0:
        raise RuntimeProblemError("cannot convert value to integer")
    return in_range(units)
