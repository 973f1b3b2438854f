"""Sets of fields in the wire's FieldsV1 form, and as paths one can compute with."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from queueing.apiserver.schema.structure import ListKind, Structure
from queueing.apiserver.tree import Object

FieldPath: TypeAlias = tuple[str, ...]
_SELF = "."


def key_text(key: Object) -> str:
    """Return how FieldsV1 spells the key of a list element."""
    return f"k:{json.dumps(key, separators=(',', ':'), sort_keys=True)}"


def value_text(value: Any) -> str:
    """Return how FieldsV1 spells an element of a set."""
    return f"v:{json.dumps(value, separators=(',', ':'))}"


def all_fields(structure: Structure, value: Any) -> Object:
    """Return the fields below `value` in FieldsV1 form."""
    if isinstance(value, dict) and not structure.atomic_map:
        return {
            f"f:{name}": all_fields(structure.child(name), item) for name, item in value.items()
        }
    if isinstance(value, list) and value:
        if structure.list_kind is ListKind.MAP:
            part = structure.item()
            return {
                key_text(structure.key_of(item)): {_SELF: {}, **all_fields(part, item)}
                for item in value
            }
        if structure.list_kind is ListKind.SET:
            return {value_text(item): {} for item in value}
    return {}


def flat(fields: Object, prefix: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths that a FieldsV1 owns."""
    if not fields and prefix:
        yield prefix
    for name, below in fields.items():
        if name == _SELF:
            yield prefix
        else:
            yield from flat(below, (*prefix, name))


def nested(paths: Iterable[FieldPath]) -> Object:
    """Return the FieldsV1 that owns exactly `paths`."""
    root: Object = {}
    for path in sorted(paths):
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_SELF] = {}
    return _tidy(root)


def _tidy(node: Object) -> Object:
    """Spell an owned leaf as an empty object."""
    if list(node) == [_SELF]:
        return {}
    return {name: below if name == _SELF else _tidy(below) for name, below in node.items()}


def differences(
    structure: Structure, old: Any, new: Any, path: FieldPath = ()
) -> Iterator[tuple[FieldPath, bool]]:
    """Yield (path, True) for what was added or changed, (path, False) for what is gone."""
    if old is new or old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and not structure.atomic_map:
        yield from _map_differences(structure, old, new, path)
    elif (
        isinstance(old, list)
        and isinstance(new, list)
        and structure.list_kind is not ListKind.ATOMIC
    ):
        yield from _list_differences(structure, old, new, path)
    else:
        yield path, True


def _whole(
    structure: Structure, value: Any, path: FieldPath, *, present: bool
) -> Iterator[tuple[FieldPath, bool]]:
    yield path, present
    for below in flat(all_fields(structure, value), path):
        if below != path:
            yield below, present


def _map_differences(
    structure: Structure, old: Object, new: Object, path: FieldPath
) -> Iterator[tuple[FieldPath, bool]]:
    for name, value in new.items():
        here = (*path, f"f:{name}")
        if name in old:
            yield from differences(structure.child(name), old[name], value, here)
        else:
            yield from _whole(structure.child(name), value, here, present=True)
    for name, value in old.items():
        if name not in new:
            yield from _whole(structure.child(name), value, (*path, f"f:{name}"), present=False)


def _list_differences(
    structure: Structure, old: list[Any], new: list[Any], path: FieldPath
) -> Iterator[tuple[FieldPath, bool]]:
    if structure.list_kind is ListKind.SET:
        before, after = {value_text(item) for item in old}, {value_text(item) for item in new}
        yield from (((*path, text), True) for text in sorted(after - before))
        yield from (((*path, text), False) for text in sorted(before - after))
        return
    was = {key_text(structure.key_of(item)): item for item in old}
    now = {key_text(structure.key_of(item)): item for item in new}
    part = structure.item()
    for key, item in now.items():
        if key in was:
            yield from differences(part, was[key], item, (*path, key))
        else:
            yield from _whole(part, item, (*path, key), present=True)
    for key, item in was.items():
        if key not in now:
            yield from _whole(part, item, (*path, key), present=False)
