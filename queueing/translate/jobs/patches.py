"""Changes of an object as an API server takes them; who sends one adds the version it is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePatch:
    """The body of a merge patch (RFC 7396)."""

    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonPatch:
    """The operations of a JSON patch (RFC 6902)."""

    operations: Sequence[Mapping[str, Any]]


Patch = MergePatch | JsonPatch
