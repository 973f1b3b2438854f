"""What is done with each item of a list, or each key of a map."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from queueing.cel.values import (
    CelError,
    RuntimeProblemError,
    UnsupportedError,
    Value,
    kind_of,
    truth,
)
from queueing.cel.variables import METER, Closure, Variables

NO_ANSWER = (RuntimeProblemError, UnsupportedError)
"""Failures that count for nothing where another part of a condition decides it."""


def graver(one: CelError, other: CelError) -> CelError:
    """Return what counts of two failures: what is not evaluated here might have been enough."""
    return other if isinstance(other, UnsupportedError) else one


@dataclass(frozen=True, slots=True)
class Body:
    """What is evaluated for each item."""

    name: str
    """The variable that the item is."""
    run: Closure
    cost: int
    """The steps that it takes each time."""


def _scope(body: Body, whole: Value, variables: Variables) -> dict[str, Value]:
    """Return variables that the items of a list, or the keys of a map, become one after another.

    Nothing keeps them beyond an item.
    """
    if not isinstance(whole, (list, dict, Mapping)):
        raise RuntimeProblemError(f"a {kind_of(whole)} has no items")
    variables[METER].spend(body.cost * len(whole))
    return dict(variables)


def _any(body: Body, whole: Value, variables: Variables, *, enough: bool = True) -> bool:
    """Say whether one item decides; a failure counts only when none does."""
    failure: CelError | None = None
    inner, run, name = _scope(body, whole, variables), body.run, body.name
    for inner[name] in whole:
        try:
            if truth(run(inner)) is enough:
                return enough
        except NO_ANSWER as error:
            failure = error if failure is None else graver(failure, error)
    if failure is not None:
        raise failure
    return not enough


def _one(body: Body, whole: Value, variables: Variables) -> bool:
    inner, run, name = _scope(body, whole, variables), body.run, body.name
    return sum(truth(run(inner)) for inner[name] in whole) == 1


def _map(body: Body, whole: Value, variables: Variables) -> list[Value]:
    inner, run, name = _scope(body, whole, variables), body.run, body.name
    return [run(inner) for inner[name] in whole]


def _filter(body: Body, whole: Value, variables: Variables) -> list[Value]:
    inner, run, name = _scope(body, whole, variables), body.run, body.name
    return [inner[name] for inner[name] in whole if truth(run(inner))]


RUNS: Mapping[str, Callable[[Body, Value, Variables], Value]] = {
    "exists": _any,
    "all": partial(_any, enough=False),
    "exists_one": _one,
    "map": _map,
    "filter": _filter,
}
"""Loops by name: of a body, what is looked through, and variables."""
