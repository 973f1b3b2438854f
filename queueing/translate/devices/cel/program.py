"""A tree → a function of the variables: names are resolved once, arguments when it runs."""

from collections.abc import Callable, Mapping
from functools import partial

from queueing.translate.devices.cel.functions import FUNCTIONS, METHODS, OPTIONALS, call
from queueing.translate.devices.cel.operators import OPERATORS, at
from queueing.translate.devices.cel.syntax import Call, ListOf, Literal, MapOf, Name, Node, Select
from queueing.translate.devices.cel.values import (
    INT_MAX,
    INT_MIN,
    NOTHING,
    Amount,
    InvalidError,
    Maybe,
    MissingKeyError,
    RuntimeProblemError,
    UnsupportedError,
    Value,
    Version,
    in_range,
    kind_of,
    truth,
)

Variables = Mapping[str, Value]
Program = Callable[[Variables], Value]

_NO_ANSWER = (RuntimeProblemError, UnsupportedError)
_LOOPS = frozenset({"all", "exists", "exists_one", "map", "filter"})
_PAIR, _TRIPLE = 2, 3


def compiled(node: Node, names: frozenset[str]) -> Program:
    """Return the program of a tree in which these variables are known.

    Raises InvalidError for others, UnsupportedError for functions that are not known here.
    """
    match node:
        case Literal(value):
            if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
                raise InvalidError(f"{value} is no 64-bit number")
            return lambda _: value
        case Name(name):
            if name not in names:
                raise InvalidError(f"undeclared reference to {name!r}")
            return lambda variables: _known(variables[name])
        case Select():
            return _select(node, names)
        case ListOf(items):
            parts = [compiled(one, names) for one in items]
            return lambda variables: [part(variables) for part in parts]
        case MapOf(entries):
            pairs = [(compiled(key, names), compiled(value, names)) for key, value in entries]
            return lambda variables: {key(variables): value(variables) for key, value in pairs}
        case Call():
            return _call(node, names)


class _Later:
    """The value of a variable, worked out when it is first asked for."""

    __slots__ = ("_found", "_value", "_variables")

    def __init__(self, value: Program, variables: Variables) -> None:
        self._value, self._variables = value, variables
        self._found: list[Value] = []

    def get(self) -> Value:
        if not self._found:
            self._found.append(self._value(self._variables))
        return self._found[0]


def _known(value: Value) -> Value:
    return value.get() if isinstance(value, _Later) else value


def _select(node: Select, names: frozenset[str]) -> Program:
    operand, field = compiled(node.operand, names), node.field
    if node.optional:
        return lambda variables: _optional(operand(variables), field)
    return lambda variables: _field(operand(variables), field)


def _field(value: Value, field: str) -> Value:
    if isinstance(value, Maybe):
        return _optional(value, field)
    if not isinstance(value, Mapping):
        raise RuntimeProblemError(f"a {kind_of(value)} has no field {field}")
    return at(value, field)


def _optional(value: Value, key: Value) -> Maybe:
    if isinstance(value, Maybe):
        return _optional(value.value, key) if value.present else NOTHING
    try:
        return Maybe(present=True, value=at(value, key))
    except (MissingKeyError, IndexError):
        return NOTHING


def _call(node: Call, names: frozenset[str]) -> Program:
    name = node.name
    if node.target is not None:
        return _method(node, node.target, names)
    if name == "has":
        return _has(node, names)
    if name in ("&&", "||"):
        return _logic(name, *(compiled(one, names) for one in node.arguments))
    if _is_smallest(node):
        return lambda _: INT_MIN
    parts = [compiled(one, names) for one in node.arguments]
    if name in OPERATORS and len(parts) == _PAIR:
        return _binary(node, *parts)
    if name == "dyn" and len(parts) == 1:
        return parts[0]
    form = _FORMS.get((name, len(parts)))
    if form is not None:
        return form(*parts)
    if name not in FUNCTIONS:
        raise UnsupportedError(f"the function {name}")
    return lambda variables: call(FUNCTIONS, name, [part(variables) for part in parts])


def _binary(node: Call, left: Program, right: Program) -> Program:
    operator, among = OPERATORS[node.name], node.arguments[1]
    if node.name == "in" and isinstance(among, ListOf):
        return _among(left, right, among)
    return lambda variables: operator(left(variables), right(variables))


def _choice(condition: Program, then: Program, otherwise: Program) -> Program:
    return lambda variables: (
        then(variables) if truth(condition(variables)) else otherwise(variables)
    )


_FORMS: Mapping[tuple[str, int], Callable[..., Program]] = {
    ("?:", 3): _choice,
    ("!", 1): lambda part: lambda variables: not truth(part(variables)),
    ("neg", 1): lambda part: lambda variables: _negative(part(variables)),
    ("optional index", 2): lambda whole, key: (
        lambda variables: _optional(whole(variables), key(variables))
    ),
}
"""What the grammar makes of operators that are no functions, by name and number of arguments."""


def _is_smallest(node: Call) -> bool:
    """Say whether it is the one number whose digits alone are none."""
    if node.name != "neg" or not isinstance(node.arguments[0], Literal):
        return False
    value = node.arguments[0].value
    return isinstance(value, int) and -value == INT_MIN


def _among(item: Program, items: Program, written: ListOf) -> Program:
    """Look for an item in a list that is spelled out, as Kubernetes does beforehand."""
    if not written.items:
        return lambda _: False  # not even what is looked for is worked out
    constant = all(isinstance(one, Literal) for one in written.items)

    def run(variables: Variables) -> Value:
        found = item(variables)
        if constant and isinstance(found, Amount | Version):
            raise RuntimeProblemError(f"a {kind_of(found)} cannot be looked for among constants")
        return OPERATORS["in"](found, items(variables))

    return run


def _negative(value: Value) -> Value:
    if kind_of(value) not in ("int", "double"):
        raise RuntimeProblemError(f"no such overload: - of {kind_of(value)}")
    return in_range(-value) if isinstance(value, int) else -value


def _logic(name: str, left: Program, right: Program) -> Program:
    """Decide by either side alone where that is enough, whatever the other one says."""
    enough = name == "||"

    def run(variables: Variables) -> Value:
        try:
            if truth(left(variables)) is enough:
                return enough
        except _NO_ANSWER as failure:
            try:
                if truth(right(variables)) is enough:
                    return enough
            except _NO_ANSWER as other:
                raise _graver(failure, other) from None
            raise
        return truth(right(variables))

    return run


def _graver(one: ValueError, other: ValueError) -> ValueError:
    """Return what counts of two failures: what is not evaluated here might have been enough."""
    return other if isinstance(other, UnsupportedError) else one


def _has(node: Call, names: frozenset[str]) -> Program:
    if len(node.arguments) != 1 or not isinstance(node.arguments[0], Select):
        raise InvalidError("invalid argument to has() macro")
    selected = node.arguments[0]
    operand, field = compiled(selected.operand, names), selected.field

    def run(variables: Variables) -> Value:
        found = operand(variables)
        if isinstance(found, Maybe):
            return found.present and field in found.value
        if not isinstance(found, Mapping):
            raise RuntimeProblemError(f"a {kind_of(found)} has no fields")
        return field in found

    return run


def _method(node: Call, target: Node, names: frozenset[str]) -> Program:
    name = node.name
    if isinstance(target, Name) and target.name not in names:
        return _of_library(target.name, node, names)
    if name in _LOOPS:
        return _loop(node, compiled(target, names), names)
    found = compiled(target, names)
    parts = [compiled(one, names) for one in node.arguments]
    if name in ("orValue", "or") and len(parts) == 1:
        return lambda variables: _or(name, found(variables), parts[0], variables)
    if name not in METHODS:
        raise UnsupportedError(f"the function {name}")
    return lambda variables: call(
        METHODS, name, [found(variables), *(part(variables) for part in parts)]
    )


def _or(name: str, found: Value, other: Program, variables: Variables) -> Value:
    if not isinstance(found, Maybe):
        raise RuntimeProblemError(f"no such overload: {name} of {kind_of(found)}")
    if name == "or":
        return found if found.present else other(variables)
    return found.value if found.present else other(variables)


def _of_library(library: str, node: Call, names: frozenset[str]) -> Program:
    """Compile `cel.bind` and what stands under `optional.`."""
    if (library, node.name) == ("cel", "bind"):
        if len(node.arguments) != _TRIPLE or not isinstance(node.arguments[0], Name):
            raise InvalidError("cel.bind() needs a variable, its value and an expression")
        bound = node.arguments[0].name
        value = compiled(node.arguments[1], names)
        inner = compiled(node.arguments[2], names | {bound})
        return lambda variables: inner({**variables, bound: _Later(value, variables)})
    if library == "optional" and node.name in OPTIONALS:
        function = OPTIONALS[node.name]
        parts = [compiled(one, names) for one in node.arguments]
        return lambda variables: function(*(part(variables) for part in parts))
    raise UnsupportedError(f"the function {library}.{node.name}")


def _loop(node: Call, target: Program, names: frozenset[str]) -> Program:
    if not node.arguments or not isinstance(node.arguments[0], Name):
        raise InvalidError(f"{node.name}() needs a variable first")
    if len(node.arguments) != _PAIR:
        raise UnsupportedError(f"{node.name}() with {len(node.arguments)} arguments")
    name = node.arguments[0].name
    body = compiled(node.arguments[1], names | {name})
    run = partial(_RUNS[node.name], body, name)
    return lambda variables: run(_items(target(variables)), variables)


def _items(value: Value) -> list[Value]:
    if isinstance(value, list | Mapping):
        return list(value)
    raise RuntimeProblemError(f"a {kind_of(value)} has no items")


def _any(
    body: Program, name: str, items: list[Value], variables: Variables, *, enough: bool = True
) -> bool:
    """Say whether one item decides; a failure counts only when none does."""
    failure: ValueError | None = None
    for one in items:
        try:
            if truth(body({**variables, name: one})) is enough:
                return enough
        except _NO_ANSWER as error:
            failure = error if failure is None else _graver(failure, error)
    if failure is not None:
        raise failure
    return not enough


def _one(body: Program, name: str, items: list[Value], variables: Variables) -> bool:
    return sum(truth(body({**variables, name: one})) for one in items) == 1


def _map(body: Program, name: str, items: list[Value], variables: Variables) -> list[Value]:
    return [body({**variables, name: one}) for one in items]


def _filter(body: Program, name: str, items: list[Value], variables: Variables) -> list[Value]:
    return [one for one in items if truth(body({**variables, name: one}))]


_RUNS: Mapping[str, Callable[[Program, str, list[Value], Variables], Value]] = {
    "exists": _any,
    "all": partial(_any, enough=False),
    "exists_one": _one,
    "map": _map,
    "filter": _filter,
}
