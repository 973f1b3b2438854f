"""What is known while an expression is evaluated: values by name, and what may still be spent."""

from collections.abc import Callable, Mapping

from queueing.cel.values import TooCostlyError, Value

Variables = Mapping[str, Value]
"""Values by name, and under the name METER what may still be spent."""
Closure = Callable[[Variables], Value]

METER = ""
LONG = 64
"""Length of a text that is looked at in one step."""


class CostTracker:
    """Counts the steps of an evaluation.

    There is one for each item of a loop, and some for functions whose work grows with their
    arguments.
    """

    __slots__ = ("_left",)

    def __init__(self, budget: int) -> None:
        self._left = budget

    def spend(self, steps: int) -> None:
        """Count steps. Raises TooCostlyError when there are none left."""
        self._left -= steps
        if self._left < 0:
            raise TooCostlyError("an expression that takes this many steps")


class Later:
    """The value of a variable, worked out when it is first asked for."""

    __slots__ = ("_found", "_value", "_variables")

    def __init__(self, value: Closure, variables: Variables) -> None:
        self._value, self._variables = value, variables
        self._found: list[Value] = []

    def get(self) -> Value:
        """Return the value."""
        if not self._found:
            self._found.append(self._value(self._variables))
        return self._found[0]


def weight(value: Value) -> int:
    """Return the steps that it takes to look at all of a value."""
    if isinstance(value, str):
        return 1 + len(value) // LONG
    if isinstance(value, list):
        return 1 + sum(map(weight, value))
    return 1 + len(value) + sum(map(weight, value.values())) if isinstance(value, dict) else 1


def _length(value: Value) -> int:
    return len(value) if isinstance(value, (str, list)) else 1


LARGE: Mapping[str, tuple[tuple[type, ...], Callable[[Value], int]]] = {
    "==": ((list, dict), weight),
    "!=": ((list, dict), weight),
    "in": ((list,), weight),
    "+": ((list, str), _length),
}
"""Operators whose work grows with what they are given, of which types, and by how much."""
