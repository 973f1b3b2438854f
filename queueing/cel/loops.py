"""What is done with each item of a list, or each key of a map."""

from collections.abc import Callable, Mapping
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


def _scope(whole: Value, variables: Variables) -> dict[str, Value]:
    """Return variables that the items of a list, or the keys of a map, become one after another.

    Nothing keeps them beyond an item.
    """
    if not isinstance(whole, (list, dict, Mapping)):
        raise RuntimeProblemError(f"a {kind_of(whole)} has no items")
    variables[METER].spend(len(whole))
    return dict(variables)


def _any(
    body: Closure, name: str, whole: Value, variables: Variables, *, enough: bool = True
) -> bool:
    """Say whether one item decides; a failure counts only when none does."""
    failure: CelError | None = None
    inner = _scope(whole, variables)
    for inner[name] in whole:
        try:
            if truth(body(inner)) is enough:
                return enough
        except NO_ANSWER as error:
            failure = error if failure is None else graver(failure, error)
    if failure is not None:
        raise failure
    return not enough


def _one(body: Closure, name: str, whole: Value, variables: Variables) -> bool:
    inner = _scope(whole, variables)
    return sum(truth(body(inner)) for inner[name] in whole) == 1


def _map(body: Closure, name: str, whole: Value, variables: Variables) -> list[Value]:
    inner = _scope(whole, variables)
    return [body(inner) for inner[name] in whole]


def _filter(body: Closure, name: str, whole: Value, variables: Variables) -> list[Value]:
    inner = _scope(whole, variables)
    return [inner[name] for inner[name] in whole if truth(body(inner))]


RUNS: Mapping[str, Callable[[Closure, str, Value, Variables], Value]] = {
    "exists": _any,
    "all": partial(_any, enough=False),
    "exists_one": _one,
    "map": _map,
    "filter": _filter,
}
"""Loops by name: of a body, the name of its variable, what is looked through, and variables."""
