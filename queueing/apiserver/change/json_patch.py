"""JSON patch (RFC 6902)."""

from collections.abc import Sequence
from typing import Any

from queueing.apiserver.failures import ApiFailure, bad_request
from queueing.apiserver.tree import copied


class PatchPathError(Exception):
    """An operation whose path, value or test does not fit the document."""


def patched(document: Any, operations: Any) -> Any:
    """Return `document` after all operations; 422 when one does not fit, and nothing is done."""
    if not isinstance(operations, Sequence) or isinstance(operations, (str, dict)):
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    made = copied(document)
    for operation in operations:
        try:
            made = _apply(made, operation)
        except PatchPathError as error:
            raise ApiFailure(
                422,
                "Invalid",
                f"the server rejected our request due to an error in our request: {error}",
            ) from error
    return made


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    word, path = operation.get("op"), _tokens(str(operation.get("path", "")))
    match word:
        case "add":
            return _put(document, path, copied(_given(operation)), replace=False)
        case "replace":
            return _put(document, path, copied(_given(operation)), replace=True)
        case "remove":
            return _removed(document, path)
        case "test":
            if _read(document, path) != _given(operation):
                raise PatchPathError(f"testing value {operation['path']} failed")
            return document
        case "move" | "copy":
            source = _tokens(str(operation.get("from", "")))
            value = copied(_read(document, source))
            base = _removed(document, source) if word == "move" else document
            return _put(base, path, value, replace=False)
        case _:
            raise PatchPathError(f"unexpected kind: {word}")


def _given(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise PatchPathError(
            f"missing value in operation {operation.get('op')} {operation.get('path')}"
        )
    return operation["value"]


def _tokens(pointer: str) -> list[str]:
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise PatchPathError(f"invalid pointer {pointer!r}")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def _index(step: str, length: int) -> int:
    if not step.lstrip("-").isdigit() or (step.startswith("0") and step != "0"):
        raise PatchPathError(f"invalid index {step!r}")
    number = int(step)
    if not 0 <= number < length:
        raise PatchPathError(f"index {step} is out of bounds")
    return number


def _read(document: Any, path: list[str]) -> Any:
    for token in path:
        if isinstance(document, list):
            document = document[_index(token, len(document))]
        elif isinstance(document, dict) and token in document:
            document = document[token]
        else:
            raise PatchPathError(f"missing path: /{'/'.join(path)}")
    return document


def _put(document: Any, path: list[str], value: Any, *, replace: bool) -> Any:
    if not path:
        return value
    parent, last = _read(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        if last == "-" and not replace:
            parent.append(value)
        elif replace:
            parent[_index(last, len(parent))] = value
        else:
            parent.insert(_index(last, len(parent) + 1), value)
    elif isinstance(parent, dict):
        parent[last] = value
    else:
        raise PatchPathError(f"missing path: /{'/'.join(path)}")
    return document


def _removed(document: Any, path: list[str]) -> Any:
    _read(document, path)
    if not path:
        raise PatchPathError("the root cannot be removed")
    parent, last = _read(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        del parent[_index(last, len(parent))]
    else:
        del parent[last]
    return document
