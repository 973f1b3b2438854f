"""Read the protobuf form in which kubectl sends some built-in kinds; answers are always JSON."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from queueing.apiserver.failures import bad_request
from queueing.apiserver.resources.shapes import Field, message_of, messages
from queueing.apiserver.tree import Object

MAGIC = b"k8s\x00"
_SIGN_BIT = 1 << 63
# Zero means something for these; other zeros are what an unset field looks like.
_ZERO_COUNTS = frozenset({"parallelism", "completions", "backoffLimit", "replicas", "value"})
_EMPTY_COUNTS = frozenset({"emptyDir"})


def from_protobuf(body: bytes) -> Object:
    """Return the object in a protobuf envelope; 400 for kinds whose shape is not known."""
    api_version, kind, raw = "", "", b""
    for number, value in _entries(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            words = {
                part: text.decode() for part, text in _entries(value) if isinstance(text, bytes)
            }
            api_version, kind = words.get(1, ""), words.get(2, "")
        elif number == 2 and isinstance(value, bytes):  # noqa: PLR2004 - the envelope's content
            raw = value
    message = message_of(api_version.rpartition("/")[0], kind)
    if not message:
        raise bad_request(f"{api_version} {kind} is not understood as protobuf here; send JSON")
    return {"apiVersion": api_version, "kind": kind, **_message(message, raw)}


def _entries(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) of one message."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        match tag & 7:
            case 0:
                value, position = _varint(data, position)
                yield tag >> 3, value
            case 2:
                length, position = _varint(data, position)
                yield tag >> 3, data[position : position + length]
                position += length
            case 1:
                yield tag >> 3, data[position : position + 8]
                position += 8
            case 5:
                yield tag >> 3, data[position : position + 4]
                position += 4
            case other:
                raise bad_request(f"protobuf: wire type {other} is not understood")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while position < len(data):
        byte = data[position]
        result |= (byte & 0x7F) << shift
        position += 1
        if not byte & 0x80:
            return result, position
        shift += 7
    raise bad_request("protobuf: unexpected end of the body")


def _message(message: str, data: bytes) -> Object:
    fields = {entry.number: entry for entry in messages()[message]}
    made: Object = {}
    for number, raw in _entries(data):
        entry = fields.get(number)
        if entry is None:
            continue
        if entry.form == "{}" and isinstance(raw, bytes):
            pair = dict(_entries(raw))
            name = pair.get(1, b"")
            text = name.decode() if isinstance(name, bytes) else ""
            made.setdefault(entry.name, {})[text] = _value(entry, pair.get(2, b""))
            continue
        value = _value(entry, raw)
        if entry.form == "[]":
            made.setdefault(entry.name, []).append(value)
        elif entry.is_inline and isinstance(value, dict):
            made.update(value)
        elif not _is_unset(entry, value):
            made[entry.name] = value
    return made


def _is_unset(entry: Field, value: Any) -> bool:
    if value is None or value == "":
        return True
    if value == {}:
        return entry.name not in _EMPTY_COUNTS
    return value in (0, False) and entry.name not in _ZERO_COUNTS


def _value(entry: Field, raw: int | bytes) -> Any:
    if isinstance(raw, int):
        if entry.type == "bool":
            return bool(raw)
        return raw - (1 << 64) if raw & _SIGN_BIT else raw
    if entry.type in messages():
        return _message(entry.type, raw)
    match entry.type:
        case "string":
            return raw.decode()
        case "bytes":
            return base64.b64encode(raw).decode()
        case "quantity":
            return _text(raw, 1)
        case "intOrString":
            parts = dict(_entries(raw))
            return _text(raw, 3) if parts.get(1) == 1 else parts.get(2, 0)
        case "time" | "microTime":
            return _time(raw)
        case _:
            content = _text(raw, 1)
            return json.loads(content) if content else {}


def _text(raw: bytes, number: int) -> str:
    found = dict(_entries(raw)).get(number, b"")
    return found.decode() if isinstance(found, bytes) else ""


def _time(raw: bytes) -> str | None:
    seconds = dict(_entries(raw)).get(1)
    if not isinstance(seconds, int):
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
