"""Fit a client's object into the shape of its built-in kind."""

import re
from typing import Any

from queueing.apiserver.failures import bad_request
from queueing.apiserver.resources.shapes import Field, json_fields, messages
from queueing.apiserver.tree import Object
from queueing_api.quantity import QuantityError, parse

_GO = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
_ACCEPTS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "bytes": (str,),
    "bool": (bool,),
    "int32": (int,),
    "int64": (int,),
    "double": (int, float),
    "time": (str,),
    "microTime": (str,),
    "quantity": (str, int, float),
    "intOrString": (int, str),
}
_LIKE_A_QUANTITY = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"


def fitted(message: str, obj: Object, unknown: list[str]) -> Object:
    """Return the object less nulls and unknown fields, whose paths are added to `unknown`.

    A value of the wrong type is a 400 that names the field.
    """
    roots: Object = {name: obj[name] for name in ("apiVersion", "kind") if name in obj}
    rest = {name: value for name, value in obj.items() if name not in roots}
    return {**roots, **_object(message, rest, "", unknown)}


def _object(message: str, value: Object, path: str, unknown: list[str]) -> Object:
    fields = json_fields(message)
    made: Object = {}
    for name, item in value.items():
        here = f"{path}.{name}" if path else name
        entry = fields.get(name)
        if entry is None:
            unknown.append(here)
        elif item is not None:
            made[name] = _value(entry, item, (message, here), unknown)
    return made


def _value(entry: Field, item: Any, place: tuple[str, str], unknown: list[str]) -> Any:
    message, path = place
    if entry.form == "[]":
        if not isinstance(item, list):
            raise _mismatch(item, place, entry)
        return [
            _single(entry, part, (message, f"{path}[{index}]"), unknown)
            for index, part in enumerate(item)
        ]
    if entry.form == "{}":
        if not isinstance(item, dict):
            raise _mismatch(item, place, entry)
        return {
            name: _single(entry, "" if part is None else part, place, unknown)
            for name, part in item.items()
            if part is not None or entry.type == "string"
        }
    return _single(entry, item, place, unknown)


def _single(entry: Field, item: Any, place: tuple[str, str], unknown: list[str]) -> Any:
    if entry.type == "raw":
        return item
    if entry.type in messages():
        if not isinstance(item, dict):
            raise _mismatch(item, place, entry)
        return _object(entry.type, item, place[1], unknown)
    wanted = _ACCEPTS[entry.type]
    if not isinstance(item, wanted) or (isinstance(item, bool) and bool not in wanted):
        raise _mismatch(item, place, entry)
    if entry.type == "quantity":
        _check_quantity(item)
    return item


def _check_quantity(item: Any) -> None:
    text = str(item).strip()
    try:
        parse(text)
    except QuantityError as error:
        if re.fullmatch(_LIKE_A_QUANTITY, text):
            raise bad_request("unable to parse quantity's suffix") from error
        told = f"quantities must match the regular expression '{_LIKE_A_QUANTITY}'"
        raise bad_request(told) from error


def _mismatch(item: Any, place: tuple[str, str], entry: Field) -> Exception:
    message, path = place
    found = next((word for kind, word in _GO.items() if isinstance(item, kind)), "null")
    owner = message.rpartition(".")[2]
    plain = re.sub(r"\[\d+\]", "", path)
    text = f"json: cannot unmarshal {found} into Go struct field {owner}.{plain}"
    return bad_request(f"{text} of type {entry.type}")
