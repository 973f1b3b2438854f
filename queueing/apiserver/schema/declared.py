"""What an apply configuration must be to own fields: declared, and of the right types."""

from typing import Any

from queueing.apiserver.tree import Object

_WORDS = {
    "integer": "numeric (int or float)",
    "number": "numeric (int or float)",
    "string": "string",
    "boolean": "boolean",
    "object": "map",
    "array": "list",
}


def misfit(schema: Object, value: Any, path: str = "") -> str:
    """Return the first sentence about a field that is undeclared or of a wrong type, or nothing."""
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return ""
    wanted = schema.get("type")
    if wanted and not _is(wanted, value):
        return f"{path}: expected {_WORDS.get(wanted, wanted)}, got {_found(value)}"
    if isinstance(value, list):
        items = schema.get("items") or {}
        found = (misfit(items, item, f"{path}[{index}]") for index, item in enumerate(value))
        return next(filter(None, found), "")
    return _fields(schema, value, path) if isinstance(value, dict) else ""


def _fields(schema: Object, value: Object, path: str) -> str:
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    is_open = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or more is True
    for name, item in value.items():
        here = f"{path}.{name}"
        part = properties.get(name, more if isinstance(more, dict) else None)
        if part is None and not is_open:
            return f"{here}: field not declared in schema"
        if found := misfit(part or {}, item, here):
            return found
    return ""


def _is(wanted: str, value: Any) -> bool:
    if wanted in ("integer", "number"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds = {"string": str, "boolean": bool, "object": dict, "array": list}
    return isinstance(value, kinds.get(wanted, object))


def _found(value: Any) -> str:
    words = ((bool, "boolean"), (str, "string"), (dict, "map"), (list, "list"))
    return next((word for kind, word in words if isinstance(value, kind)), "numeric")
