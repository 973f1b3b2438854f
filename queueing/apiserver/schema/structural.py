"""Check a value against a structural schema and say what is wrong, field by field."""

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from queueing.apiserver.failures import (
    StatusCause,
    duplicate,
    invalid_value,
    required,
    unsupported_value,
)
from queueing.apiserver.tree import Object

_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"
_TYPE_OF = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (dict, "object"),
    (list, "array"),
)


@lru_cache(maxsize=512)
def pattern(text: str) -> re.Pattern[str]:
    """Compile an ECMA-like pattern; `$` means the very end, as in RE2."""
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", text))


def type_name(value: Any) -> str:
    """Return the JSON type of `value` as OpenAPI spells it."""
    return next((name for kind, name in _TYPE_OF if isinstance(value, kind)), "null")


def shown(value: Any) -> str:
    """Return `value` as the messages print it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def violations(schema: Object, value: Any, path: str = "") -> Iterator[StatusCause]:
    """Yield every broken rule of `schema` in `value`; an empty stream means valid."""
    if value is None:
        if not schema.get("nullable") and schema.get("type"):
            yield _wrong_type(schema, value, path)
        return
    if not _type_fits(schema, value):
        yield _wrong_type(schema, value, path)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield unsupported_value(path, shown(value), map(shown, schema["enum"]))
    if isinstance(value, str):
        yield from _text(schema, value, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number(schema, value, path)
    elif isinstance(value, list):
        yield from _array(schema, value, path)
    elif isinstance(value, dict):
        yield from _fields(schema, value, path)
    yield from _combined(schema, value, path)


def _type_fits(schema: Object, value: Any) -> bool:
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return isinstance(value, (int, str)) and not isinstance(value, bool)
    if not wanted:
        return True
    found = type_name(value)
    if wanted == "number":
        return found in ("number", "integer")
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return bool(found == wanted)


def _wrong_type(schema: Object, value: Any, path: str) -> StatusCause:
    wanted = (
        "integer,string" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "")
    )
    found = type_name(value)
    text = shown(found)
    detail = f"{path or '<nil>'} in body must be of type {wanted}: {text}"
    return StatusCause("FieldValueTypeInvalid", f"Invalid value: {text}: {detail}", path or "<nil>")


def _broken(path: str, value: Any, rule: str) -> StatusCause:
    return invalid_value(path, shown(value), f"{path} in body {rule}")


def _text(schema: Object, value: str, path: str) -> Iterator[StatusCause]:
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    if longest is not None and len(value) > longest:
        unit = "byte" if longest == 1 else "bytes"
        yield StatusCause(
            "FieldValueTooLong", f"Too long: may not be more than {longest} {unit}", path
        )
    if shortest is not None and len(value) < shortest:
        yield _broken(path, value, f"should be at least {shortest} chars long")
    if "pattern" in schema and not pattern(schema["pattern"]).search(value):
        yield _broken(path, value, f"should match '{schema['pattern']}'")
    check = _FORMATS.get(schema.get("format", ""))
    if check and not check(value):
        yield _broken(path, value, f"must be of type {schema['format']}: {shown(value)}")


def _number(schema: Object, value: float, path: str) -> Iterator[StatusCause]:
    low, high, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    if low is not None and schema.get("exclusiveMinimum") and value <= low:
        yield _broken(path, value, f"should be greater than {low}")
    elif low is not None and value < low:
        yield _broken(path, value, f"should be greater than or equal to {low}")
    if high is not None and schema.get("exclusiveMaximum") and value >= high:
        yield _broken(path, value, f"should be less than {high}")
    elif high is not None and value > high:
        yield _broken(path, value, f"should be less than or equal to {high}")
    if step and not math.isclose(value / step, round(value / step)):
        yield _broken(path, value, f"should be a multiple of {step}")
    bits = {"int32": 31, "int64": 63}.get(schema.get("format", ""))
    if bits and not -(2**bits) <= value < 2**bits:
        yield _broken(path, value, f"must be of type {schema['format']}: {shown(value)}")


def _array(schema: Object, value: list[Any], path: str) -> Iterator[StatusCause]:
    most, least = schema.get("maxItems"), schema.get("minItems")
    yield from _too_many(len(value), most, path)
    if least is not None and len(value) < least:
        yield invalid_value(
            path, str(len(value)), f"{path} in body should have at least {least} items"
        )
    items = schema.get("items")
    if isinstance(items, dict):
        for index, item in enumerate(value):
            yield from violations(items, item, f"{path}[{index}]")
    yield from _duplicates(schema, value, path)


def _too_many(count: int, most: int | None, path: str) -> Iterator[StatusCause]:
    if most is not None and count > most:
        message = f"Too many: {count}: must have at most {most} {'item' if most == 1 else 'items'}"
        yield StatusCause("FieldValueTooMany", message, path)


def _duplicates(schema: Object, value: list[Any], path: str) -> Iterator[StatusCause]:
    """Check that lists which are sets or maps hold each key once."""
    kind = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys") or []
    if kind not in ("set", "map") and not schema.get("uniqueItems"):
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        identity = (
            {key: item.get(key) for key in keys if key in item}
            if kind == "map" and isinstance(item, dict)
            else item
        )
        text = shown(identity)
        if text in seen:
            yield duplicate(f"{path}[{index}]", text)
        seen.add(text)


def _fields(schema: Object, value: Object, path: str) -> Iterator[StatusCause]:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            yield required(f"{path}.{name}" if path else name)
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    yield from _too_many(len(value), most, path)
    if least is not None and len(value) < least:
        yield _broken(path, value, f"should have at least {least} properties")
    more = schema.get("additionalProperties")
    for name, item in value.items():
        field = f"{path}.{name}" if path else name
        if name in properties:
            yield from violations(properties[name], item, field)
        elif isinstance(more, dict):
            yield from violations(more, item, field)


def _combined(schema: Object, value: Any, path: str) -> Iterator[StatusCause]:
    for part in schema.get("allOf") or ():
        yield from violations(part, value, path)
    for word, wanted in (("anyOf", "at least one"), ("oneOf", "one and only one")):
        parts = schema.get(word)
        if not parts or (word == "anyOf" and schema.get("x-kubernetes-int-or-string")):
            continue
        fitting = sum(1 for part in parts if next(violations(part, value, path), None) is None)
        if fitting == 0 or (word == "oneOf" and fitting > 1):
            found = "" if fitting == 0 else f". Found {fitting} valid alternatives"
            detail = f"{path!r} must validate {wanted} schema ({word}){found}".replace("'", '"')
            yield invalid_value(path, shown(value), detail)
    negated = schema.get("not")
    if negated and next(violations(negated, value, path), None) is None:
        yield invalid_value(path, shown(value), f'"{path}" must not validate the schema (not)')


def _is_time(value: str) -> bool:
    if not re.fullmatch(
        r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", value
    ):
        return False
    try:
        datetime.fromisoformat(re.sub(r"\.\d+", "", value.upper()))
    except ValueError:
        return False
    return True


_FORMATS: dict[str, Callable[[str], bool]] = {
    "date-time": _is_time,
    "date": lambda value: _is_time(f"{value}T00:00:00Z"),
    "uuid": lambda value: (
        re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value) is not None
    ),
    "quantity": lambda value: re.match(_QUANTITY, value) is not None,
    "ipv4": lambda value: re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}", value) is not None,
    "email": lambda value: re.fullmatch(r"[^@\s]+@[^@\s]+", value) is not None,
}
