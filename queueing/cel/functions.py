"""Functions and methods: a table by name and the types of their arguments."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from math import isinf, isnan
from types import MappingProxyType

from queueing.cel import patterns
from queueing.cel.operators import OPERATORS
from queueing.cel.values import (
    NOTHING,
    Amount,
    Maybe,
    RuntimeProblemError,
    UnsupportedError,
    Value,
    Version,
    amount,
    duration,
    equal,
    in_range,
    kind_of,
    sum_of,
    version,
    whole,
)
from queueing_api.quantity import NANO_PER_UNIT

_PLAIN_MIN, _PLAIN_MAX = -4, 6
"""Powers of ten between which a double is spelled without an exponent."""
_ITEMS_OF_A_STEP = 8
"""Items, or letters, that a function looks at in one step, one after another."""
Function = Callable[..., Value]
Signature = tuple[str, ...]
Overloads = Mapping[str, Mapping[Signature, Function]]


def _is(read: Callable[[Value], object], value: Value) -> bool:
    try:
        read(value)
    except RuntimeProblemError:
        return False
    return True


def _substring(text: str, begin: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= begin <= last <= len(text):
        raise RuntimeProblemError("index out of range")
    return text[begin:last]


def _char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise RuntimeProblemError(f"index out of range: {at}")
    return text[at : at + 1]


def _split(text: str, by: str) -> list[str]:
    return text.split(by) if by else list(text)


def _ascii(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(change(one) if one.isascii() else one for one in text)


def _joined(items: list[Value], between: str = "") -> str:
    if not all(isinstance(one, str) for one in items):
        raise RuntimeProblemError("join needs strings")
    return between.join(items)


def _to_int(value: Value) -> int:
    try:
        return in_range(int(value))
    except (ValueError, OverflowError) as error:
        raise RuntimeProblemError(f"{value!r} is no int") from error


def _to_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text_of_double(value) if isinstance(value, float) else str(value)


def _text_of_double(value: float) -> str:
    """Spell a number as Go does: as few digits as tell it, far from 1 with an exponent."""
    if isnan(value) or isinf(value):
        return "NaN" if isnan(value) else f"{value:+}".replace("inf", "Inf")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    figures = "".join(map(str, digits))
    power = len(figures) + int(exponent) - 1
    if value and not _PLAIN_MIN <= power < _PLAIN_MAX:
        behind = f".{figures[1:]}" if figures[1:] else ""
        return f"{'-' * sign}{figures[0]}{behind}e{power:+03d}"
    return f"{value:.{max(0, -int(exponent))}f}"


def _sum(items: list[Value]) -> Value:
    """Add up; of nothing it is 0."""
    if items and isinstance(items[0], (str, list)):
        raise RuntimeProblemError(f"no such overload: sum of {kind_of(items[0])}")
    return reduce(OPERATORS["+"], items[1:], items[0]) if items else 0


def _joined_cost(items: list[Value], between: str = "") -> int:
    return sum(len(one) + len(between) for one in items if isinstance(one, str))


def _replaced_cost(text: str, old: str, new: str, times: int = -1) -> int:
    return len(text) + len(new) * (text.count(old) if times < 0 else times)


def _read_cost(text: str, *_: bool) -> int:
    return 1 + len(text) // _ITEMS_OF_A_STEP


def _to_bool(text: str) -> bool:
    words = {"1": True, "t": True, "T": True, "true": True, "TRUE": True, "True": True}
    words |= {"0": False, "f": False, "F": False, "false": False, "FALSE": False, "False": False}
    if text not in words:
        raise RuntimeProblemError(f"{text!r} is no bool")
    return words[text]


def _compare(left: Amount | Version, right: Amount | Version) -> int:
    return (left > right) - (left < right)  # type: ignore[operator]  # both of one type, by table


def _held(found: Maybe) -> Value:
    if not found.present:
        raise RuntimeProblemError("optional.none() dereference")
    return found.value


def _index(items: list[Value], wanted: Value) -> int:
    return next((at for at, one in enumerate(items) if equal(one, wanted)), -1)


def _units(number: int) -> Amount:
    return Amount(number * NANO_PER_UNIT)


METHODS: Overloads = MappingProxyType(
    {
        "contains": {("string", "string"): lambda a, b: b in a},
        "startsWith": {("string", "string"): str.startswith},
        "endsWith": {("string", "string"): str.endswith},
        "matches": {("string", "string"): patterns.matches},
        "size": {("string",): len, ("list",): len, ("map",): len},
        "lowerAscii": {("string",): _ascii(str.lower)},
        "upperAscii": {("string",): _ascii(str.upper)},
        "trim": {("string",): str.strip},
        "replace": {
            ("string", "string", "string"): str.replace,
            ("string", "string", "string", "int"): str.replace,
        },
        "split": {("string", "string"): _split},
        "join": {("list",): _joined, ("list", "string"): _joined},
        "substring": {("string", "int"): _substring, ("string", "int", "int"): _substring},
        "charAt": {("string", "int"): _char_at},
        "indexOf": {
            ("string", "string"): str.find,
            **{("list", kind): _index for kind in ("bool", "int", "double", "string")},
        },
        "lastIndexOf": {("string", "string"): str.rfind},
        "compareTo": {("quantity", "quantity"): _compare, ("semver", "semver"): _compare},
        "isGreaterThan": {
            ("quantity", "quantity"): lambda a, b: a.nano > b.nano,
            ("semver", "semver"): lambda a, b: a > b,
        },
        "isLessThan": {
            ("quantity", "quantity"): lambda a, b: a.nano < b.nano,
            ("semver", "semver"): lambda a, b: a < b,
        },
        "asInteger": {("quantity",): whole},
        "isInteger": {("quantity",): lambda a: _is(whole, a)},
        "asApproximateFloat": {("quantity",): lambda a: a.nano / NANO_PER_UNIT},
        "add": {
            ("quantity", "quantity"): sum_of,
            ("quantity", "int"): lambda a, b: sum_of(a, _units(b)),
        },
        "sub": {
            ("quantity", "quantity"): lambda a, b: sum_of(a, b, -1),
            ("quantity", "int"): lambda a, b: sum_of(a, _units(b), -1),
        },
        "sum": {("list",): _sum},
        "major": {("semver",): lambda a: a.numbers[0]},
        "minor": {("semver",): lambda a: a.numbers[1]},
        "patch": {("semver",): lambda a: a.numbers[2]},
        "hasValue": {("optional",): lambda a: a.present},
        "value": {("optional",): _held},
    }
)
"""Methods by name, then by the types of target and arguments."""

FUNCTIONS: Overloads = MappingProxyType(
    {
        "size": METHODS["size"],
        "matches": METHODS["matches"],
        "quantity": {("string",): amount},
        "isQuantity": {("string",): lambda text: _is(amount, text)},
        "semver": {
            ("string",): version,
            ("string", "bool"): lambda text, normalize: version(text, normalize=normalize),
        },
        "isSemver": {
            ("string",): lambda text: _is(version, text),
            ("string", "bool"): lambda text, loose: _is(
                lambda one: version(one, normalize=loose), text
            ),
        },
        "int": {("int",): _to_int, ("double",): _to_int, ("string",): _to_int},
        "string": {(kind,): _to_text for kind in ("int", "double", "string", "bool")},
        "duration": {("string",): duration, ("duration",): lambda one: one},
        "double": {("int",): float, ("double",): float},
        "bool": {("bool",): bool, ("string",): _to_bool},
    }
)
"""Functions by name, then by the types of their arguments."""

COSTS: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "matches": patterns.cost,
        "join": _joined_cost,
        "replace": _replaced_cost,
        "split": lambda text, by: text.count(by) // _ITEMS_OF_A_STEP,
        "sum": len,
        "duration": lambda text: len(text) // 2 if isinstance(text, str) else 0,
        "quantity": _read_cost,
        "isQuantity": _read_cost,
        "semver": _read_cost,
        "isSemver": _read_cost,
        "indexOf": lambda items, _: len(items) // _ITEMS_OF_A_STEP,
        "lowerAscii": lambda text: len(text) // _ITEMS_OF_A_STEP,
        "upperAscii": lambda text: len(text) // _ITEMS_OF_A_STEP,
    }
)
"""Steps that a call of some functions takes at most; of all others it takes a few."""

OF_LIBRARIES: Mapping[tuple[str, str], Function] = MappingProxyType(
    {
        ("optional", "none"): lambda: NOTHING,
        ("optional", "of"): lambda value: Maybe(present=True, value=value),
        ("jsonpatch", "escapeKey"): lambda key: key.replace("~", "~0").replace("/", "~1"),
    }
)
"""Functions by the name of their library and their own."""


def overload(table: Overloads, name: str, values: list[Value]) -> Function:
    """Return the function of a name for the types of some arguments.

    Raises UnsupportedError when none is known for these: Kubernetes may know one.
    """
    kinds = tuple(map(kind_of, values))
    found = table[name].get(kinds)
    if found is None:
        raise UnsupportedError(f"{name}({', '.join(kinds)})")
    return found
