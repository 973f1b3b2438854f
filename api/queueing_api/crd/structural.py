"""JSON schema, as pydantic writes it, to the structural schema that the API server wants."""

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any, Final

from queueing_api.crd.descriptions import DESCRIPTIONS
from queueing_api.marks import SCHEMA_KEY
from queueing_api.wire import INT_OR_STRING, QUANTITY_PATTERN

Schema = dict[str, Any]

_IMPLIED: Final = {  # what an integer format says by itself
    "minimum": (-(2**31), -(2**63)),
    "maximum": (2**31 - 1, 2**63 - 1),
}
_ORDER: Final = {  # what a reader looks for first
    key: place
    for place, key in enumerate(
        ("description", "type", "format", "default", "enum", "required", "properties", "items")
    )
}
_STRINGS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_SPECIAL: Final[Mapping[str, Schema]] = {
    "IntOrString": {**INT_OR_STRING, "x-kubernetes-int-or-string": True},
    "Quantity": {
        **INT_OR_STRING,
        "pattern": QUANTITY_PATTERN,
        "x-kubernetes-int-or-string": True,
    },
    # Templates keep these parts of the metadata; the server makes the rest.
    "EmbeddedMetadata": {
        "type": "object",
        "properties": {
            "annotations": _STRINGS,
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": _STRINGS,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    },
}


@cache
def _definitions() -> Mapping[str, Schema]:
    text = files("queueing_api.crd").joinpath("kubernetes.json").read_text(encoding="utf-8")
    definitions: dict[str, Schema] = json.loads(text)
    return definitions


def kubernetes_definition(name: str) -> Schema:
    """Return the full schema of a Kubernetes type, references inlined."""
    definition = _definitions()[name]
    sentences = DESCRIPTIONS.get(name, {})
    properties = {}
    for field, schema in definition["properties"].items():
        properties[field] = _inlined(schema)
        if field in sentences:
            properties[field]["description"] = sentences[field]
    return {**deepcopy(definition["schema"]), "properties": properties}


def _inlined(schema: Schema) -> Schema:
    if "$special" in schema:
        return deepcopy(_SPECIAL[schema["$special"]])
    if "$ref" in schema:
        return kubernetes_definition(schema["$ref"])
    made = dict(schema)
    for key in ("items", "additionalProperties"):
        if key in made:
            made[key] = _inlined(made[key])
    return made


def structural(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Convert a schema: references inlined, null dropped, only what structural schemas allow."""
    schema = _resolved(schema, definitions)
    if SCHEMA_KEY in schema:
        name = schema[SCHEMA_KEY]
        return {"description": schema["description"], **kubernetes_definition(name)}
    made = {
        key: value
        for key, value in schema.items()
        if key not in ("$defs", "title", "additionalProperties", "default", "properties", "items")
        and not (key in _IMPLIED and value in _IMPLIED[key])
    }
    if "default" in schema and schema["default"] is not None:
        # The defaults of an object's fields fill it: the object itself need only exist.
        made["default"] = {} if isinstance(schema["default"], dict) else schema["default"]
    if "x-kubernetes-int-or-string" in made:
        made.pop("type", None)
    if isinstance(schema.get("additionalProperties"), dict):
        made["additionalProperties"] = structural(schema["additionalProperties"], definitions)
    if "items" in schema:
        made["items"] = structural(schema["items"], definitions)
    if "properties" in schema:
        made["properties"] = {
            name: structural(item, definitions) for name, item in schema["properties"].items()
        }
    return dict(sorted(made.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))))


def _resolved(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Follow references and optional types; what stands beside them wins."""
    while True:
        beside = dict(schema)
        if "$ref" in schema:
            target = definitions[beside.pop("$ref").rpartition("/")[2]]
        elif "anyOf" in schema and {"type": "null"} in schema["anyOf"]:
            target = next(item for item in beside.pop("anyOf") if item != {"type": "null"})
        else:
            return schema
        schema = {**target, **beside}
