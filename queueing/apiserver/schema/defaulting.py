"""Fill defaults, drop what a schema does not know, and name what was dropped."""

from typing import Any

from queueing.apiserver.tree import Object, copied

_ROOT_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def has_defaults(schema: Any) -> bool:
    """Tell whether any default stands in `schema`, so that the rest need not be walked."""
    if isinstance(schema, dict):
        return "default" in schema or any(has_defaults(item) for item in schema.values())
    return isinstance(schema, list) and any(has_defaults(item) for item in schema)


def with_defaults(schema: Object, value: Any) -> Any:
    """Return `value` with the schema's defaults filled in; shared where nothing was added."""
    if isinstance(value, dict):
        return _object_defaults(schema, value)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        filled = [with_defaults(items, item) for item in value]
        return (
            filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value
        )
    return value


def _object_defaults(schema: Object, value: Object) -> Object:
    changed: Object = {}
    properties = schema.get("properties") or {}
    for name, part in properties.items():
        if name not in value or (value[name] is None and not part.get("nullable")):
            if "default" in part:
                changed[name] = with_defaults(part, copied(part["default"]))
            continue
        filled = with_defaults(part, value[name])
        if filled is not value[name]:
            changed[name] = filled
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        for name, item in value.items():
            if name not in properties and (filled := with_defaults(more, item)) is not item:
                changed[name] = filled
    return {**value, **changed} if changed else value


def without_nulls(schema: Object, value: Any) -> Any:
    """Drop null where the schema allows none, as the server does before it fills in defaults."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        more = schema.get("additionalProperties")
        kept: Object = {}
        for name, item in value.items():
            part = properties.get(name, more if isinstance(more, dict) else None)
            if item is None and part is not None and not part.get("nullable"):
                continue
            part = part or {}
            kept[name] = without_nulls(part, item)
        return kept
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        return [without_nulls(items, item) for item in value]
    return value


def pruned(schema: Object, value: Object, dropped: list[str]) -> Object:
    """Return a root object less its unknown fields, whose paths are added to `dropped`."""
    rest = {name: item for name, item in value.items() if name not in _ROOT_FIELDS}
    kept = _prune(schema, rest, "", dropped)
    roots = {name: item for name, item in value.items() if name in _ROOT_FIELDS}
    return {**roots, **kept}


def _prune(schema: Object, value: Any, path: str, dropped: list[str]) -> Any:
    if schema.get("x-kubernetes-embedded-resource") and isinstance(value, dict):
        return pruned(schema, value, dropped)
    if isinstance(value, dict):
        return _prune_object(schema, value, path, dropped)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        return [
            _prune(items, item, f"{path}[{index}]", dropped) for index, item in enumerate(value)
        ]
    return value


def _prune_object(schema: Object, value: Object, path: str, dropped: list[str]) -> Object:
    properties = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    keep_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or more is True
    if not properties and more is None and schema.get("type") != "object":
        return value
    kept: Object = {}
    for name, item in value.items():
        field = f"{path}.{name}" if path else name
        if name in properties:
            kept[name] = _prune(properties[name], item, field, dropped)
        elif isinstance(more, dict):
            kept[name] = _prune(more, item, field, dropped)
        elif keep_unknown:
            kept[name] = item
        else:
            dropped.append(field)
    return kept
