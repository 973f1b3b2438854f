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

    def look_at(self, *values: Value) -> None:
        """Count the steps that it takes to look at all of some values. Raises TooCostlyError."""
        rest = list(values)
        while rest:
            one = rest.pop()
            if type(one) is str:
                self.spend(1 + len(one) // LONG)
            elif type(one) is list:
                self.spend(1 + len(one))
                rest += one
            elif type(one) is dict:
                self.spend(1 + len(one))
                rest += one.values()
            else:
                self.spend(1)


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


def _look(meter: CostTracker, one: Value, other: Value) -> None:
    meter.look_at(one, other)


def _join(meter: CostTracker, one: Value, other: Value) -> None:
    meter.spend(sum(len(part) if isinstance(part, (str, list)) else 1 for part in (one, other)))


LARGE: Mapping[str, tuple[tuple[type, ...], Callable[[CostTracker, Value, Value], None]]] = {
    "==": ((list, dict), _look),
    "!=": ((list, dict), _look),
    "in": ((list,), _look),
    "+": ((list, str), _join),
}
"""Operators whose work grows with what they are given, of which types, and what counts it."""
