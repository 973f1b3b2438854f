"""Which fields of its variables an expression reads, found in its tree."""

from collections.abc import Iterator, Mapping
from typing import Any

from queueing.cel.syntax import Call, Identifier, Literal, Node, Select
from queueing.kinds.paths import EACH, Names

LOOPS = frozenset({"all", "exists", "exists_one", "map", "filter"})


def reads_of(node: Any, variables: Mapping[str, Names]) -> Iterator[Names]:
    """Yield the longest paths of fields that an expression follows from its variables.

    An entry of a list or map, such as a variable of a loop stands for, is a step of its own.
    """
    if isinstance(node, tuple):
        for one in node:
            yield from reads_of(one, variables)
        return
    if _is_loop(node) and (entries := path_of(node.target, variables)):
        yield (*entries, EACH)
        yield from reads_of(tuple(parts_of(node.target)), variables)
        inner = {**variables, node.arguments[0].name: (*entries, EACH)}
        yield from reads_of(node.arguments[1:], inner)
        return
    path = path_of(node, variables)
    if path:
        yield path
        yield from reads_of(tuple(parts_of(node)), variables)
        return
    for slot in getattr(node, "__slots__", ()):
        yield from reads_of(getattr(node, slot), variables)


def path_of(node: Any, variables: Mapping[str, Names]) -> Names:
    """Return the path that a chain of fields follows from a variable; else nothing."""
    match node:
        case Identifier(name):
            return variables.get(name, ())
        case Select(operand, name):
            return _below(path_of(operand, variables), name)
        case Call("index" | "optional index", (operand, key)):
            step = key.value if isinstance(key, Literal) and isinstance(key.value, str) else EACH
            return _below(path_of(operand, variables), step)
        case Call("orValue", (_,), target) | Call("filter", (_, _), target):
            return path_of(target, variables)
        case _:
            return ()


def parts_of(node: Any) -> Iterator[Node]:
    """Yield what else stands in a chain of fields: defaults, conditions, computed keys."""
    match node:
        case Select(operand, _):
            yield from parts_of(operand)
        case Call("index" | "optional index", (operand, key)):
            yield from parts_of(operand)
            if not isinstance(key, Literal):
                yield key
        case Call("orValue", (default,), target):
            yield default
            yield from parts_of(target)
        case Call("filter", _, _):
            yield node
        case _:
            pass


def _below(path: Names, step: str) -> Names:
    return (*path, step) if path else ()


def _is_loop(node: Any) -> bool:
    """Say whether a node has a variable for each entry of what it is a method of."""
    if not isinstance(node, Call) or node.name not in LOOPS or node.target is None:
        return False
    return bool(node.arguments) and isinstance(node.arguments[0], Identifier)
