"""Drop what a schema does not know, and name what was dropped."""

from typing import Any

from queueing.apiserver.tree import ROOT_FIELDS, Object, without_fields


def pruned(schema: Object, value: Object, dropped: list[str]) -> Object:
    """Return a root object less its unknown fields, whose paths are added to `dropped`."""
    kept = _prune(schema, without_fields(value, ROOT_FIELDS), "", dropped)
    return {**{name: value[name] for name in value if name in ROOT_FIELDS}, **kept}


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
