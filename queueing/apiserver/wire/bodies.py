"""Reading request bodies and writing replies."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from queueing.apiserver.failures import ApiFailure, bad_request
from queueing.apiserver.tree import Object
from queueing.apiserver.wire.protobuf import MAGIC, from_protobuf

JSON = "application/json"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


@dataclass(slots=True, kw_only=True)
class Reply:
    """A finished answer; `warnings` become headers."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    warnings: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


def encoded(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return _encode(value)


def reply(value: Object, status: int = 200) -> Reply:
    """Return a JSON answer."""
    return Reply(status=status, body=_encode(value))


def refusal(failure: ApiFailure) -> Reply:
    """Return the Status of a failure, with its Retry-After."""
    made = reply(failure.status(), failure.code)
    seconds = failure.details.get("retryAfterSeconds")
    if seconds:
        made.headers["Retry-After"] = str(seconds)
    return made


def decoded(body: bytes, content_type: str) -> Any:
    """Return the value in a body of JSON, YAML or protobuf; 400 when it is none."""
    if body.startswith(MAGIC):
        return from_protobuf(body)
    try:
        if "yaml" in content_type:
            return _from_yaml(body)
        return _decode(body)
    except (msgspec.DecodeError, yaml.YAMLError) as error:
        raise bad_request(f"error decoding the body: {error}") from error


def _from_yaml(body: bytes) -> Any:
    """YAML is read by its JSON values only, so that times stay text."""
    try:
        return _decode(body)
    except msgspec.DecodeError:
        return yaml.load(body, Loader=_TextTimes)  # noqa: S506 - a SafeLoader without timestamps


class _TextTimes(yaml.SafeLoader):
    """A safe loader that leaves timestamps as text."""


_TextTimes.yaml_implicit_resolvers = {
    letter: [(tag, test) for tag, test in tests if tag != "tag:yaml.org,2002:timestamp"]
    for letter, tests in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def object_body(body: bytes, content_type: str) -> Object:
    """Return the object in a body; 400 when it is something else."""
    value = decoded(body, content_type)
    if not isinstance(value, dict):
        raise bad_request("the body must be an object")
    return value
