"""Functions and methods of selectors: a table by name and the types of their arguments."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from queueing.translate.devices.cel.values import (
    NOTHING,
    Amount,
    Maybe,
    RuntimeProblemError,
    UnsupportedError,
    Value,
    Version,
    amount,
    equal,
    in_range,
    kind_of,
    sum_of,
    version,
    whole,
)
from queueing_api.quantity import NANO_PER_UNIT

Function = Callable[..., Value]
Signature = tuple[str, ...]

_NOT_RE2 = re.compile(r"\\[1-9]|\(\?[=!<#(>]|\(\?P[=>]|[*+?}]\+")
"""Patterns that Python's engine reads otherwise than RE2, or that RE2 refuses."""


def _matches(text: str, pattern: str) -> bool:
    if _NOT_RE2.search(pattern) or not pattern.isascii() or not text.isascii():
        raise UnsupportedError(f"the pattern {pattern!r}")
    try:
        return re.search(pattern, text) is not None
    except re.error as error:
        raise RuntimeProblemError(f"{pattern!r} is no pattern: {error}") from error


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
    if isinstance(value, float):
        raise UnsupportedError("the text of a double")
    return str(value)


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


METHODS: Mapping[str, Mapping[Signature, Function]] = MappingProxyType(
    {
        "contains": {("string", "string"): lambda a, b: b in a},
        "startsWith": {("string", "string"): str.startswith},
        "endsWith": {("string", "string"): str.endswith},
        "matches": {("string", "string"): _matches},
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
            ("quantity", "quantity"): lambda a, b: a > b,
            ("semver", "semver"): lambda a, b: a > b,
        },
        "isLessThan": {
            ("quantity", "quantity"): lambda a, b: a < b,
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
        "major": {("semver",): lambda a: a.numbers[0]},
        "minor": {("semver",): lambda a: a.numbers[1]},
        "patch": {("semver",): lambda a: a.numbers[2]},
        "hasValue": {("optional",): lambda a: a.present},
        "value": {("optional",): _held},
    }
)
"""Methods by name, then by the types of target and arguments."""

FUNCTIONS: Mapping[str, Mapping[Signature, Function]] = MappingProxyType(
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
        "string": {("int",): _to_text, ("string",): _to_text, ("bool",): _to_text},
        "double": {("int",): float, ("double",): float},
        "bool": {("bool",): bool, ("string",): _to_bool},
    }
)
"""Functions by name, then by the types of their arguments."""

OPTIONALS: Mapping[str, Function] = MappingProxyType(
    {
        "none": lambda: NOTHING,
        "of": lambda value: Maybe(present=True, value=value),
    }
)
"""What follows `optional.`."""


def call(
    table: Mapping[str, Mapping[Signature, Function]], name: str, values: list[Value]
) -> Value:
    """Call a function by the types of its arguments.

    Raises UnsupportedError when none is known for these: Kubernetes may know one.
    """
    found = table[name].get(tuple(map(kind_of, values)))
    if found is None:
        kinds = ", ".join(map(kind_of, values))
        raise UnsupportedError(f"{name}({kinds})")
    return found(*values)
