"""The shapes of built-in kinds: which fields they have, of which types, under which numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.tree import Object

_PACKAGES = MappingProxyType(
    {
        "": "core",
        "apps": "apps",
        "authentication.k8s.io": "authentication",
        "authorization.k8s.io": "authorization",
        "batch": "batch",
        "coordination.k8s.io": "coordination",
        "rbac.authorization.k8s.io": "rbac",
        "scheduling.k8s.io": "scheduling",
    }
)
# Messages that stand in their parent's JSON without a name of their own.
_INLINE = frozenset({"volumeSource", "localObjectReference", "handler", "ephemeralContainerCommon"})
_OPENAPI: Mapping[str, Object] = MappingProxyType(
    {
        "string": {"type": "string"},
        "bytes": {"type": "string", "format": "byte"},
        "bool": {"type": "boolean"},
        "int32": {"type": "integer", "format": "int32"},
        "int64": {"type": "integer", "format": "int64"},
        "double": {"type": "number"},
        "time": {"type": "string", "format": "date-time"},
        "microTime": {"type": "string", "format": "date-time"},
        "quantity": {"type": "string"},
        "intOrString": {"type": "string", "format": "int-or-string"},
        "raw": {"type": "object"},
    }
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message; `form` is empty, `[]` for a list or `{}` for a map of texts."""

    number: int
    name: str
    type: str
    form: str

    @property
    def is_inline(self) -> bool:
        return self.name in _INLINE


@cache
def messages() -> Mapping[str, tuple[Field, ...]]:
    """Return every known message with its fields."""
    text = files("queueing.apiserver.resources").joinpath("shapes.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {
        name: tuple(_fields(rest)) for name, _, rest in (line.partition(": ") for line in lines)
    }


def _fields(text: str) -> Iterator[Field]:
    for part in filter(None, text.split("; ")):
        number, name, kind = part.split()
        plain = kind.rstrip("[]{}")
        yield Field(int(number), name, plain, kind[len(plain) :])


@cache
def json_fields(message: str) -> Mapping[str, Field]:
    """Return a message's fields by their name in JSON, inlined ones among them."""
    found: dict[str, Field] = {}
    for entry in messages()[message]:
        if entry.is_inline:
            found.update(json_fields(entry.type))
        else:
            found[entry.name] = entry
    return found


def message_of(group: str, kind: str) -> str:
    """Return the message of a built-in kind; empty when its shape is not known."""
    name = f"{_PACKAGES.get(group, '?')}.{kind}"
    return name if name in messages() else ""


def components(resource: Resource) -> dict[str, Object]:
    """Return the OpenAPI schemas of all messages below a built-in kind."""
    found: dict[str, Object] = {}
    waiting = [message_of(resource.group, resource.kind)]
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            fields = json_fields(name)
            found[name] = {
                "type": "object",
                "properties": {field: _schema(entry) for field, entry in fields.items()},
            }
            waiting += [entry.type for entry in fields.values() if entry.type in messages()]
    return found


def _schema(entry: Field) -> Object:
    if entry.type in messages():
        part: Object = {"allOf": [{"$ref": f"#/components/schemas/{entry.type}"}], "default": {}}
    else:
        part = dict(_OPENAPI[entry.type])
    if entry.form == "[]":
        return {"type": "array", "items": part}
    if entry.form == "{}":
        return {"type": "object", "additionalProperties": part}
    return part


def kind_schema(resource: Resource) -> Object:
    """Return the schema of a built-in kind; an outline where its shape is not known."""
    described = f"{resource.kind} as Kubernetes defines it."
    known = components(resource).get(message_of(resource.group, resource.kind))
    if known is not None:
        return {**known, "description": described}
    part: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    properties: dict[str, Any] = {"spec": part}
    if resource.stored.has_status:
        properties["status"] = part
    return {"type": "object", "description": described, "properties": properties}
