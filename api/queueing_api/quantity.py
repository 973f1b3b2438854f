"""Kubernetes quantities: text to exact numbers and back, as the API server would write them.

A quantity is an integer number of nano-units (Kubernetes keeps nothing smaller and rounds what is
smaller away from zero) plus the family of suffixes it was written in, which the canonical text
keeps. The syntax and the canonical form are those of `k8s.io/apimachinery/pkg/api/resource`.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from typing_extensions import override

NANO_PER_UNIT: Final = 10**9
NANO_PER_MILLI: Final = 10**6

_DECIMAL_EXPONENT: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENT.items()}
_BINARY_EXPONENT: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_BINARY_SUFFIX: Final = {exponent: suffix for suffix, exponent in _BINARY_EXPONENT.items()}
_SYNTAX: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]{1,6}))?"
)
_DECIMAL_DIGITS_MAX: Final = 18
_BINARY_DIGITS_MAX: Final = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": -1, "Ei": -4}
"""How many digits apimachinery keeps in an int64; it counts nano-units in those with more."""
_BINARY_MAX: Final = 2**63 - 1
_TEXT_LENGTH_MAX: Final = 4_000
"""Kubernetes reads longer ones; Python's integers do not."""
_TEXT_REMEMBERED_MAX: Final = 128
_EXPONENT_MAX: Final = 100
_BINARY_RESOURCES: Final = frozenset({"memory", "ephemeral-storage"})


class QuantityError(ValueError):
    """A text that is no Kubernetes quantity."""


class Form(Enum):
    """The family of suffixes that the canonical text uses."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True)
class ParsedQuantity:
    """An exact amount in nano-units, and the family of suffixes to print it with."""

    nano: int
    form: Form = Form.DECIMAL

    def scaled(self, nano_per_unit: int) -> int:
        """Return the amount in a coarser unit, rounded away from zero as Kubernetes does."""
        size = -(-abs(self.nano) // nano_per_unit)
        return size if self.nano >= 0 else -size

    @override
    def __str__(self) -> str:
        """Spell the canonical text: whole digits, the largest suffix that loses nothing."""
        whole, rest = divmod(self.nano, NANO_PER_UNIT)
        if self.form is Form.BINARY and rest == 0 and abs(whole) >= 1024:  # noqa: PLR2004 - 1 Ki
            return _binary_text(whole)
        number, exponent = _thousands(self.nano)
        if self.form is Form.EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        if exponent not in _DECIMAL_SUFFIX:  # beyond exa: keep the digits, no suffix exists
            return f"{number * 10 ** (exponent - 18)}E"
        return f"{number}{_DECIMAL_SUFFIX[exponent]}"


def parse(text: str | float) -> ParsedQuantity:
    """Read a quantity; a JSON number counts as its own text.

    Raises QuantityError, naming the text, when it is no quantity.
    """
    spelled = text if isinstance(text, str) else repr(text)
    return _remembered(spelled) if len(spelled) <= _TEXT_REMEMBERED_MAX else _parse(spelled)


def _parse(text: str) -> ParsedQuantity:
    match = _SYNTAX.fullmatch(text) if len(text) <= _TEXT_LENGTH_MAX else None
    if match is None or not (match["whole"] or match["fraction"]):
        raise QuantityError(
            f"{text[:_TEXT_REMEMBERED_MAX]!r} is not a quantity: write digits, then one of"
            " n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3"
        )
    fraction = match["fraction"] or ""
    digits = int((match["whole"] or "0") + fraction)
    exponent, factor, form = _scale(text, match["suffix"], match["exponent"])
    nano = _shift(digits * factor, exponent - len(fraction) + 9)
    return ParsedQuantity(-nano if match["sign"] == "-" else nano, form)


_remembered = lru_cache(maxsize=65536)(_parse)


def _scale(text: str, suffix: str | None, exponent: str | None) -> tuple[int, int, Form]:
    """Return the power of ten, the binary factor and the family that a suffix means."""
    if exponent is not None:
        if abs(int(exponent)) > _EXPONENT_MAX:
            told = text[:_TEXT_REMEMBERED_MAX]
            raise QuantityError(f"{told!r} is not a quantity: its exponent is beyond ±100")
        return int(exponent), 1, Form.EXPONENT
    if suffix in _BINARY_EXPONENT:
        return 0, 1024 ** _BINARY_EXPONENT[suffix], Form.BINARY
    return _DECIMAL_EXPONENT[suffix or ""], 1, Form.DECIMAL


def _shift(digits: int, exponent: int) -> int:
    """Multiply by a power of ten, rounding up what falls below one."""
    if exponent >= 0:
        return digits * int(10**exponent)
    return int(-(-digits // 10**-exponent))


def _thousands(nano: int) -> tuple[int, int]:
    """Split into a number and the largest exponent (a multiple of 3) that keeps it whole."""
    number, exponent = nano, -9
    while number and number % 1000 == 0:
        number //= 1000
        exponent += 3
    return number, exponent if number else 0


def _binary_text(whole: int) -> str:
    exponent = 0
    while whole % 1024 == 0 and exponent < len(_BINARY_SUFFIX):
        whole //= 1024
        exponent += 1
    return f"{whole}{_BINARY_SUFFIX.get(exponent, '')}"


@lru_cache(maxsize=4096)
def approximate(text: str | float) -> float:
    """Return a quantity as the float that `Quantity.AsApproximateFloat64` makes of it.

    That is its digits times a power of ten: `0.3` is 3 * 0.1, in the last digit another float than
    `300m`. Whoever divides by a quantity as Kueue does needs just that one. Raises QuantityError.
    """
    exact = parse(text)
    match = _SYNTAX.fullmatch(text if isinstance(text, str) else repr(text))
    if match is None:
        return 0.0
    fraction = match["fraction"] or ""
    whole = match["whole"].lstrip("0") or "0"
    size, scale = abs(exact.nano), -9
    if exact.form is Form.BINARY:
        size = min(size, _BINARY_MAX * NANO_PER_UNIT)
        if not fraction and len(whole) <= _BINARY_DIGITS_MAX[match["suffix"]]:
            size, scale = size // NANO_PER_UNIT, 0
    else:
        exponent = _scale(match[0], match["suffix"], match["exponent"])[0] - len(fraction)
        if exponent >= scale and len(whole) + len(fraction) <= _DECIMAL_DIGITS_MAX:
            size, scale = int(whole + fraction), exponent
    value = size * float(f"1e{scale}")
    return -value if exact.nano < 0 else value


@lru_cache(maxsize=65536)
def milli(text: str | float) -> int:
    """Return a quantity in thousandths of its unit, rounded up (CPU is counted so)."""
    return parse(text).scaled(NANO_PER_MILLI)


@lru_cache(maxsize=65536)
def whole(text: str | float) -> int:
    """Return a quantity in whole units, rounded up (bytes, devices, pods)."""
    return parse(text).scaled(NANO_PER_UNIT)


def amount(resource: str, text: str | float) -> int:
    """Return the integer that decisions count with: milli-units for cpu, units for the rest."""
    return milli(text) if resource == "cpu" else whole(text)


def canonical(text: str | float) -> str:
    """Return the text that the API server would store for a quantity."""
    return str(parse(text))


def format_amount(resource: str, value: int) -> str:
    """Spell an integer amount as a quantity: the inverse of `amount`, in Kueue's families.

    Bytes (memory, ephemeral-storage, hugepages) print with binary suffixes, the rest with decimal.
    """
    if resource == "cpu":
        return str(ParsedQuantity(value * NANO_PER_MILLI))
    binary = resource in _BINARY_RESOURCES or resource.startswith("hugepages-")
    return str(ParsedQuantity(value * NANO_PER_UNIT, Form.BINARY if binary else Form.DECIMAL))
