"""Strategic merge patch for built-in kinds: lists merge by key, `$patch` directives hold."""

from typing import Any

from queueing.apiserver.failures import bad_request
from queueing.apiserver.schema.structure import ListKind, Structure
from queueing.apiserver.tree import Object, copied

_DIRECTIVES = ("$patch", "$retainKeys", "$deleteFromPrimitiveList/", "$setElementOrder/")


def merged(structure: Structure, target: Any, patch: Any) -> Any:
    """Return `target` with a strategic merge patch applied."""
    if not isinstance(patch, dict):
        return copied(patch)
    base: Object = target if isinstance(target, dict) else {}
    directive = patch.get("$patch")
    if directive == "delete":
        return {}
    if directive == "replace":
        return copied({name: value for name, value in patch.items() if name != "$patch"})
    made = {**base}
    if "$retainKeys" in patch:
        made = {name: value for name, value in made.items() if name in patch["$retainKeys"]}
    for field, gone in _directed(patch, "$deleteFromPrimitiveList/"):
        made[field] = [item for item in made.get(field) or [] if item not in gone]
    for name, value in patch.items():
        if not name.startswith(_DIRECTIVES):
            _merge_field(structure.child(name), made, name, value)
    for field, order in _directed(patch, "$setElementOrder/"):
        if isinstance(made.get(field), list):
            made[field] = _ordered(structure.child(field), made[field], order)
    return made


def _directed(patch: Object, directive: str) -> list[tuple[str, Any]]:
    """Return the fields that a directive names, with what it says of each."""
    return [
        (name.removeprefix(directive), value)
        for name, value in patch.items()
        if name.startswith(directive)
    ]


def _merge_field(structure: Structure, made: Object, name: str, value: Any) -> None:
    if value is None:
        made.pop(name, None)
    elif isinstance(value, list):
        made[name] = _list(structure, made.get(name), value)
    else:
        made[name] = merged(structure, made.get(name), value)


def _list(structure: Structure, target: Any, patch: list[Any]) -> list[Any]:
    base = target if isinstance(target, list) else []
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if not (isinstance(item, dict) and "$patch" in item)]
    match structure.list_kind:
        case ListKind.ATOMIC:
            return list(copied(patch))
        case ListKind.SET:
            return [*base, *(item for item in patch if item not in base)]
        case ListKind.MAP:
            return _map(structure, list(base), patch)


def _map(structure: Structure, made: list[Any], patch: list[Any]) -> list[Any]:
    key = _merge_key(structure, patch)
    for item in patch:
        if key not in item:
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        found = next((index for index, old in enumerate(made) if old.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            made = [old for old in made if old.get(key) != item[key]]
        elif found is None:
            made.append(merged(structure.item(), {}, item))
        else:
            made[found] = merged(structure.item(), made[found], item)
    return made


def _merge_key(structure: Structure, patch: list[Any]) -> str:
    """Return the key by which elements match; service ports have one of their own."""
    key = structure.keys[0]
    if key == "containerPort" and any("port" in item for item in patch):
        return "port"
    return key


def _ordered(structure: Structure, items: list[Any], order: list[Any]) -> list[Any]:
    """Bring listed elements into the asked order; the others keep their place after them."""
    if structure.list_kind is ListKind.MAP:
        key = _merge_key(structure, [item for item in order if isinstance(item, dict)])
        ranks = {item.get(key): rank for rank, item in enumerate(order)}
        return sorted(items, key=lambda item: ranks.get(item.get(key), len(ranks)))
    places = {str(item): rank for rank, item in enumerate(order)}
    return sorted(items, key=lambda item: places.get(str(item), len(places)))
