"""Operators on two values, by the types of these."""

from collections.abc import Callable, Mapping
from math import copysign, inf, isnan
from types import MappingProxyType

from queueing.cel.values import (
    INT_MIN,
    ORDERED,
    Duration,
    MissingKeyError,
    RuntimeProblemError,
    Value,
    equal,
    in_range,
    kind_of,
)

_NUMBERS = frozenset({"int", "double"})


def _overload(name: str, *values: Value) -> RuntimeProblemError:
    kinds = ", ".join(map(kind_of, values))
    return RuntimeProblemError(f"no such overload: {name} of {kinds}")


def _plus(left: Value, right: Value) -> Value:
    if type(left) is int and type(right) is int:
        return in_range(left + right)
    kind = kind_of(left)
    if kind == "duration" and isinstance(right, Duration):
        return Duration(in_range(left.nano + right.nano))
    if kind != kind_of(right) or kind not in ("double", "string", "list"):
        raise _overload("+", left, right)
    return left + right


def _numbers(name: str, count: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def apply(left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return in_range(count(left, right))
        if kind_of(left) != "double" or kind_of(right) != "double":
            raise _overload(name, left, right)
        return count(left, right)

    return apply


def _divided(left: Value, right: Value) -> Value:
    """Divide as Go does: towards zero; a double by zero is an infinity, or no number."""
    if isinstance(left, float):
        if right == 0.0:
            return left * copysign(inf, right)
        return left / right
    if right == 0:
        raise RuntimeProblemError("division by zero")
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _rest(left: Value, right: Value) -> Value:
    if kind_of(left) != "int" or kind_of(right) != "int":
        raise _overload("%", left, right)
    if right == 0:
        raise RuntimeProblemError("modulus by zero")
    if (left, right) == (INT_MIN, -1):
        raise RuntimeProblemError("integer overflow")
    return left - right * _divided(left, right)


def _ordered(name: str, holds: Callable[[Value, Value], bool]) -> Callable[[Value, Value], Value]:
    def apply(left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return holds(left, right)
        kinds = {kind_of(left), kind_of(right)}
        if not kinds <= ORDERED or (len(kinds) > 1 and not kinds <= _NUMBERS):
            raise _overload(name, left, right)
        if any(isinstance(one, float) and isnan(one) for one in (left, right)):
            raise RuntimeProblemError("NaN values cannot be ordered")
        return holds(left, right)

    return apply


def _is_equal(left: Value, right: Value) -> bool:
    """Say whether two values are equal; those that fail to be compared are not."""
    if type(left) is str and type(right) is str:
        return left == right
    try:
        return equal(left, right)
    except RuntimeProblemError:
        return False


def _within(item: Value, container: Value) -> bool:
    if type(container) is dict and type(item) is str:
        return item in container
    if isinstance(container, Mapping):
        return isinstance(item, str | int) and item in container
    if isinstance(container, list):
        return any(_is_equal(item, one) for one in container)
    raise _overload("in", item, container)


def at(container: Value, key: Value) -> Value:
    """Return what a list or a map holds. Raises MissingKeyError, RuntimeProblemError."""
    if isinstance(container, (dict, Mapping)):
        try:
            return container[key]
        except (KeyError, TypeError) as error:
            raise MissingKeyError(str(key)) from error
    if isinstance(container, list) and isinstance(key, int) and not isinstance(key, bool):
        if not 0 <= key < len(container):
            raise RuntimeProblemError(f"index out of bounds: {key}")
        return container[key]
    raise _overload("[]", container, key)


OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = MappingProxyType(
    {
        "+": _plus,
        "-": _numbers("-", lambda left, right: left - right),
        "*": _numbers("*", lambda left, right: left * right),
        "/": _numbers("/", _divided),
        "%": _rest,
        "==": equal,
        "!=": lambda left, right: not _is_equal(left, right),
        "<": _ordered("<", lambda left, right: left < right),
        "<=": _ordered("<=", lambda left, right: left <= right),
        ">": _ordered(">", lambda left, right: left > right),
        ">=": _ordered(">=", lambda left, right: left >= right),
        "in": _within,
        "index": at,
    }
)
"""Binary operators by their sign."""
