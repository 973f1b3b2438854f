"""Steps into values: fields, keys, and those that may lead nowhere."""

from queueing.cel.operators import at
from queueing.cel.syntax import Call, Literal, Node, Select
from queueing.cel.values import (
    NOTHING,
    Maybe,
    MissingKeyError,
    RuntimeProblemError,
    Value,
    kind_of,
)
from queueing.cel.variables import Closure, Variables


def field_of(value: Value, field: str) -> Value:
    """Return a field of a map, or of one that may be absent. Raises RuntimeProblemError."""
    if isinstance(value, dict):
        try:
            return value[field]
        except KeyError as error:
            raise MissingKeyError(field) from error
    if isinstance(value, Maybe):
        return optional(value, field)
    raise RuntimeProblemError(f"a {kind_of(value)} has no field {field}")


def optional(value: Value, key: Value) -> Maybe:
    """Return what a map or a list holds, if it does. Raises RuntimeProblemError of others."""
    if type(value) is dict and type(key) is str:
        return Maybe(present=True, value=value[key]) if key in value else NOTHING
    if isinstance(value, Maybe):
        return optional(value.value, key) if value.present else NOTHING
    try:
        return Maybe(present=True, value=at(value, key))
    except (MissingKeyError, IndexError):
        return NOTHING


def chain(node: Node) -> tuple[Node, tuple[str, ...]] | None:
    """Return what a chain of optional steps begins with, and its keys; None of anything else."""
    match node:
        case Select(operand, key, may_be_absent):
            before = chain(operand)
        case Call("optional index", (operand, Literal(str(key)))):
            before, may_be_absent = chain(operand), True
        case _:
            return None
    if before is not None:
        return before[0], (*before[1], key)
    return (operand, (key,)) if may_be_absent else None


def or_value(base: Closure, keys: tuple[str, ...], other: Closure) -> Closure:
    """Look up one key after another, without a value for each step on the way."""

    def run(variables: Variables) -> Value:
        value = base(variables)
        for key in keys:
            if type(value) is dict:
                if key not in value:
                    return other(variables)
                value = value[key]
                continue
            found = optional(value, key)
            if not found.present:
                return other(variables)
            value = found.value
        return value

    return run


def or_else(name: str, found: Value, other: Closure, variables: Variables) -> Value:
    """Return what an optional value holds (`orValue`) or itself (`or`); the other if it is none."""
    if not isinstance(found, Maybe):
        raise RuntimeProblemError(f"no such overload: {name} of {kind_of(found)}")
    if name == "or":
        return found if found.present else other(variables)
    return found.value if found.present else other(variables)
