"""A tree → a function of the variables: names are resolved once, arguments when it runs."""

from collections.abc import Callable, Mapping
from functools import partial

from queueing.cel import patterns
from queueing.cel.functions import (
    COSTS,
    FUNCTIONS,
    METHODS,
    OF_LIBRARIES,
    Function,
    Overloads,
    overload,
)
from queueing.cel.loops import NO_ANSWER, RUNS, Body, graver
from queueing.cel.operators import OPERATORS
from queueing.cel.steps import chain, field_of, optional, or_else, or_value
from queueing.cel.syntax import (
    Call,
    Identifier,
    ListOf,
    Literal,
    MapOf,
    Message,
    Node,
    Select,
    size_of,
)
from queueing.cel.values import (
    INT_MAX,
    INT_MIN,
    Amount,
    CelError,
    InvalidError,
    Maybe,
    RuntimeProblemError,
    UnsupportedError,
    Value,
    Version,
    equal,
    in_range,
    kind_of,
    truth,
)
from queueing.cel.variables import LARGE, LONG, METER, Closure, Later, Variables

_PAIR, _TRIPLE = 2, 3
NODES_OF_A_STEP = 8
"""Parts of an expression that are evaluated in one step."""
_OF_TEXT = (str,)


def closure(node: Node, names: frozenset[str]) -> Closure:
    """Return the program of a tree in which these variables are known.

    Raises InvalidError for others, UnsupportedError for functions that are not known here.
    """
    match node:
        case Literal(value):
            if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
                raise InvalidError(f"{value} is no 64-bit number")
            return lambda _: value
        case Identifier(name):
            if name not in names:
                raise InvalidError(f"undeclared reference to {name!r}")
            return _name(name)
        case Select():
            return _select(node, names)
        case ListOf(items):
            parts = [closure(one, names) for one in items]
            return lambda variables: [part(variables) for part in parts]
        case MapOf(entries):
            pairs = [(closure(key, names), closure(value, names)) for key, value in entries]
            return lambda variables: {key(variables): value(variables) for key, value in pairs}
        case Message(name, fields):
            if name not in names:
                raise InvalidError(f"undeclared reference to {name!r}")
            made = [(field, closure(value, names)) for field, value in fields]
            return lambda variables: {field: value(variables) for field, value in made}
        case Call():
            return _call(node, names)


def _name(name: str) -> Closure:
    def run(variables: Variables) -> Value:
        value = variables[name]
        return value.get() if type(value) is Later else value

    return run


def _select(node: Select, names: frozenset[str]) -> Closure:
    operand, field = closure(node.operand, names), node.field
    if node.optional:
        return lambda variables: optional(operand(variables), field)
    if isinstance(node.operand, Identifier):
        return _field_of_name(node.operand.name, operand, field)

    def run(variables: Variables) -> Value:
        value = operand(variables)
        return value[field] if type(value) is dict and field in value else field_of(value, field)

    return run


def _field_of_name(name: str, operand: Closure, field: str) -> Closure:
    """Step into a variable, as most expressions do most of the time, without a call for it."""

    def run(variables: Variables) -> Value:
        value = variables[name]
        if type(value) is dict and field in value:
            return value[field]
        return field_of(operand(variables), field)

    return run


def _call(node: Call, names: frozenset[str]) -> Closure:
    name = node.name
    if node.target is not None:
        return _method(node, node.target, names)
    if name == "has":
        return _has(node, names)
    if name in ("&&", "||"):
        return _logic(name, *(closure(one, names) for one in node.arguments))
    if _is_smallest(node):
        return lambda _: INT_MIN
    parts = [closure(one, names) for one in node.arguments]
    if name in OPERATORS and len(parts) == _PAIR:
        return _binary(node, *parts)
    if name == "dyn" and len(parts) == 1:
        return parts[0]
    form = _FORMS.get((name, len(parts)))
    if form is not None:
        return form(*parts)
    if name not in FUNCTIONS:
        raise UnsupportedError(f"the function {name}")
    if name == "matches" and not isinstance(node.arguments[-1], Literal):
        return _called(FUNCTIONS, name, parts, patterns.cost_of_unknown)
    return _constant(node) or _called(FUNCTIONS, name, parts)


def _constant(node: Call) -> Closure | None:
    """Return what a function says of a literal, if it says something: it says so every time."""
    values = [one.value for one in node.arguments if isinstance(one, Literal)]
    if len(values) < len(node.arguments) or node.name in COSTS:
        return None
    try:
        value = overload(FUNCTIONS, node.name, values)(*values)
    except CelError:
        return None
    return lambda _: value


def _called(
    table: Overloads, name: str, parts: list[Closure], cost: Callable[..., int] | None = None
) -> Closure:
    known: dict[tuple[type, ...], Function] = {}
    cost = cost or COSTS.get(name)

    def run(variables: Variables) -> Value:
        values = [part(variables) for part in parts]
        types = tuple(map(type, values))
        function = known.get(types)
        if function is None:
            function = known[types] = overload(table, name, values)
        if cost is not None:
            variables[METER].look_at(values[0])
            variables[METER].spend(cost(*values))
        elif types[:1] == _OF_TEXT and len(values[0]) > LONG:
            variables[METER].look_at(values[0])
        return function(*values)

    return run


def _binary(node: Call, left: Closure, right: Closure) -> Closure:
    operator, among = OPERATORS[node.name], node.arguments[1]
    if node.name == "in" and isinstance(among, ListOf):
        return _among(left, right, among)
    if node.name == "==" and isinstance(among, Literal) and isinstance(among.value, str):
        return _is_text(left, among.value)
    if node.name not in LARGE:
        return lambda variables: operator(left(variables), right(variables))
    types, count = LARGE[node.name]

    def run(variables: Variables) -> Value:
        one, other = left(variables), right(variables)
        if type(other) in types:
            count(variables[METER], one, other)
        return operator(one, other)

    return run


def _is_text(left: Closure, text: str) -> Closure:
    def run(variables: Variables) -> Value:
        found = left(variables)
        return found == text if type(found) is str else equal(found, text)

    return run


def _choice(condition: Closure, then: Closure, otherwise: Closure) -> Closure:
    return lambda variables: (
        then(variables) if truth(condition(variables)) else otherwise(variables)
    )


_FORMS: Mapping[tuple[str, int], Callable[..., Closure]] = {
    ("?:", 3): _choice,
    ("!", 1): lambda part: lambda variables: not truth(part(variables)),
    ("neg", 1): lambda part: lambda variables: _negative(part(variables)),
    ("optional index", 2): lambda whole, key: (
        lambda variables: optional(whole(variables), key(variables))
    ),
}
"""What the grammar makes of operators that are no functions, by name and number of arguments."""


def _is_smallest(node: Call) -> bool:
    """Say whether it is the one number whose digits alone are none."""
    if node.name != "neg" or not isinstance(node.arguments[0], Literal):
        return False
    value = node.arguments[0].value
    return isinstance(value, int) and -value == INT_MIN


def _among(item: Closure, items: Closure, written: ListOf) -> Closure:
    """Look for an item in a list that is spelled out, as Kubernetes does beforehand."""
    if not written.items:
        return lambda _: False  # not even what is looked for is worked out
    constant = all(isinstance(one, Literal) for one in written.items)

    def run(variables: Variables) -> Value:
        found = item(variables)
        if constant and isinstance(found, (Amount, Version)):
            raise RuntimeProblemError(f"a {kind_of(found)} cannot be looked for among constants")
        return OPERATORS["in"](found, items(variables))

    return run


def _negative(value: Value) -> Value:
    if kind_of(value) not in ("int", "double"):
        raise RuntimeProblemError(f"no such overload: - of {kind_of(value)}")
    return in_range(-value) if isinstance(value, int) else -value


def _logic(name: str, left: Closure, right: Closure) -> Closure:
    """Decide by either side alone where that is enough, whatever the other one says."""
    enough = name == "||"

    def run(variables: Variables) -> Value:
        try:
            found = left(variables)
            if found is enough:
                return enough
            truth(found)
        except NO_ANSWER as failure:
            try:
                if truth(right(variables)) is enough:
                    return enough
            except NO_ANSWER as other:
                raise graver(failure, other) from None
            raise
        return truth(right(variables))

    return run


def _has(node: Call, names: frozenset[str]) -> Closure:
    if len(node.arguments) != 1 or not isinstance(node.arguments[0], Select):
        raise InvalidError("invalid argument to has() macro")
    selected = node.arguments[0]
    operand, field = closure(selected.operand, names), selected.field

    def run(variables: Variables) -> Value:
        found = operand(variables)
        if type(found) is dict:
            return field in found
        if isinstance(found, Maybe):
            return found.present and field in found.value
        if not isinstance(found, Mapping):
            raise RuntimeProblemError(f"a {kind_of(found)} has no fields")
        return field in found

    return run


def _method(node: Call, target: Node, names: frozenset[str]) -> Closure:
    name = node.name
    if isinstance(target, Identifier) and target.name not in names:
        return _of_library(target.name, node, names)
    if name in RUNS:
        return _loop(node, closure(target, names), names)
    parts = [closure(one, names) for one in node.arguments]
    if name == "orValue" and len(parts) == 1 and (steps := chain(target)):
        return or_value(closure(steps[0], names), steps[1], parts[0])
    found = closure(target, names)
    if name in ("orValue", "or") and len(parts) == 1:
        return lambda variables: or_else(name, found(variables), parts[0], variables)
    if name not in METHODS:
        raise UnsupportedError(f"the function {name}")
    if name == "matches" and not isinstance(node.arguments[-1], Literal):
        return _called(METHODS, name, [found, *parts], patterns.cost_of_unknown)
    return _called(METHODS, name, [found, *parts])


def _of_library(library: str, node: Call, names: frozenset[str]) -> Closure:
    """Compile `cel.bind` and functions that bear the name of their library."""
    if (library, node.name) == ("cel", "bind"):
        if len(node.arguments) != _TRIPLE or not isinstance(node.arguments[0], Identifier):
            raise InvalidError("cel.bind() needs a variable, its value and an expression")
        bound = node.arguments[0].name
        value = closure(node.arguments[1], names)
        inner = closure(node.arguments[2], names | {bound})
        return lambda variables: inner({**variables, bound: Later(value, variables)})
    if library == "jsonpatch" and "JSONPatch" not in names:
        raise InvalidError(f"undeclared reference to {library!r}")
    function = OF_LIBRARIES.get((library, node.name))
    if function is not None:
        parts = [closure(one, names) for one in node.arguments]
        return lambda variables: function(*(part(variables) for part in parts))
    raise UnsupportedError(f"the function {library}.{node.name}")


def cost_of(node: Node) -> int:
    """Return the steps that a tree takes each time, beside those that are counted as it runs."""
    return 1 + size_of(node) // NODES_OF_A_STEP


def _loop(node: Call, target: Closure, names: frozenset[str]) -> Closure:
    if not node.arguments or not isinstance(node.arguments[0], Identifier):
        raise InvalidError(f"{node.name}() needs a variable first")
    if len(node.arguments) != _PAIR:
        raise UnsupportedError(f"{node.name}() with {len(node.arguments)} arguments")
    name = node.arguments[0].name
    body = Body(name, closure(node.arguments[1], names | {name}), cost_of(node.arguments[1]))
    run = partial(RUNS[node.name], body)
    return lambda variables: run(target(variables), variables)
