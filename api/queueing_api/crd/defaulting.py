"""What the API server makes of an object before anybody judges it: no nulls, but defaults."""

from copy import deepcopy
from typing import Any

Schema = dict[str, Any]


def has_defaults(schema: Any) -> bool:
    """Tell whether any default stands in `schema`, so that the rest need not be walked."""
    if isinstance(schema, dict):
        return "default" in schema or any(has_defaults(item) for item in schema.values())
    return isinstance(schema, list) and any(has_defaults(item) for item in schema)


def with_defaults(schema: Schema, value: Any) -> Any:
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


def _object_defaults(schema: Schema, value: Schema) -> Schema:
    changed: Schema = {}
    properties = schema.get("properties") or {}
    for name, part in properties.items():
        if name not in value or (value[name] is None and not part.get("nullable")):
            if "default" in part:
                changed[name] = with_defaults(part, deepcopy(part["default"]))
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


def without_nulls(schema: Schema, value: Any) -> Any:
    """Drop null where the schema allows none, as the server does before it fills in defaults."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        more = schema.get("additionalProperties")
        kept: Schema = {}
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
