"""Marks for annotations: what Kubernetes' schemas say beyond types and limits.

A mark adds keys to the JSON schema of the field that it stands on; it changes nothing about
validation in Python.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema


class Mark:
    """Extra keys for the JSON schema of an annotated type."""

    def __init__(self, **keys: Any) -> None:
        self.keys: Mapping[str, Any] = keys

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Merge the keys into what the type itself says."""
        return {**handler(schema), **self.keys}


def list_map(*names: str) -> Mark:
    """Mark a list whose items are told apart, and merged, by these fields."""
    return Mark(**{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(names)})


def kubernetes_schema(definition: str) -> Mark:
    """Mark a field whose schema is Kubernetes' own full definition, not our partial model."""
    return Mark(**{SCHEMA_KEY: definition})


SCHEMA_KEY: Final = "x-queueing-definition"
ATOMIC: Final = Mark(**{"x-kubernetes-list-type": "atomic"})
SET: Final = Mark(**{"x-kubernetes-list-type": "set"})
MAP_ATOMIC: Final = Mark(**{"x-kubernetes-map-type": "atomic"})
OPAQUE: Final = Mark(**{"x-kubernetes-preserve-unknown-fields": True})
"""Mark an object that the API server keeps as it is, whatever is in it."""
ONE_PROPERTY: Final = Mark(minProperties=1, maxProperties=1)
