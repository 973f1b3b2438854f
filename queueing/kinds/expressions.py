"""Expressions of descriptions: compiled once, with the fields that they read.

The part of CEL that is evaluated is that of device selectors. What is not evaluated here is refused
when a description is read, not when an object comes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from queueing.cel.program import Program, compiled
from queueing.cel.values import (
    CelError,
    InvalidError,
    Maybe,
    MissingKeyError,
    TooCostlyError,
    UnsupportedError,
)
from queueing.cel.variables import METER, CostTracker
from queueing.kinds.paths import ABSENT, Names
from queueing.kinds.reads import reads_of

STEPS_MAX = 20_000
"""Steps that all expressions together may take on one object: less than 50 ms of them, in which
nothing else is done. An object with thousands of entries stays below."""
_STEPS_OF_A_CALL = 2


class ExpressionError(ValueError):
    """An expression that cannot be used, whatever object it is asked of."""


class NoValueError(ValueError):
    """An expression that fails on one object; the text says why."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression; `reads` are paths that begin with a variable."""

    text: str
    reads: frozenset[Names] = field(compare=False)
    program: Program = field(compare=False, repr=False)
    roots: frozenset[str] = field(init=False, compare=False, repr=False)
    """The variables that it reads."""
    cost: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roots", frozenset(path[0] for path in self.reads))
        object.__setattr__(self, "cost", _STEPS_OF_A_CALL + self.program.cost)

    def value(self, variables: Mapping[str, Any]) -> Any:
        """Return its value; ABSENT for an optional one that is not there. Raises NoValueError.

        With a `meter` among the variables all expressions share the steps that may be taken.
        """
        known = variables if METER in variables else {**variables, **meter()}
        try:
            known[METER].spend(self.cost)
            found = self.program(known)
        except MissingKeyError as error:
            way_out = f"where {error.key} may be absent, write .?{error.key} and .orValue(…)"
            raise NoValueError(f"{error}; {way_out}") from error
        except TooCostlyError as error:
            told = f"the expressions of the kind take more than {STEPS_MAX} steps on it"
            raise NoValueError(told) from error
        except CelError as error:
            raise NoValueError(str(error)) from error
        if isinstance(found, Maybe):
            return found.value if found.present else ABSENT
        return ABSENT if found is None else found


def meter() -> dict[str, Any]:
    """Return the variable that counts the steps of the expressions on one object."""
    return {METER: CostTracker(STEPS_MAX)}


def expression(text: str, *variables: str) -> Expression:
    """Compile an expression that knows some variables. Raises ExpressionError."""
    names = frozenset(variables)
    try:
        program = compiled(text, names)
    except InvalidError as error:
        raise ExpressionError(str(error)) from error
    except UnsupportedError as error:
        raise ExpressionError(f"{error} is not evaluated here") from error
    reads = frozenset(reads_of(program.tree, {name: (name,) for name in variables}))
    if ("object",) in reads:
        raise ExpressionError("names the whole object; name its fields, such as object.spec")
    return Expression(text, reads, program)
