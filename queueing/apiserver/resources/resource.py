"""The description of one kind as the API serves it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from queueing.apiserver.failures import qualified
from queueing.apiserver.tree import Object


class Generation(StrEnum):
    """When `metadata.generation` grows."""

    NEVER = "never"
    SPEC = "on a change of spec"
    ALL_BUT_STATUS = "on a change of anything but metadata and status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A printer column: `path` is a JSONPath without braces, `.spec.x`."""

    name: str
    path: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedVersion:
    """One version under which a kind can be read and written."""

    name: str
    schema: Object = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    selectable: Mapping[str, str] = field(default_factory=dict)
    has_status: bool = False
    scale: Mapping[str, str] | None = None
    defaults: bool = False
    deprecation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind: its names, scope and served versions; `storage` names the stored one."""

    group: str
    kind: str
    plural: str
    versions: tuple[ServedVersion, ...]
    storage: str
    singular: str = ""
    list_kind: str = ""
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    custom: bool = False
    generation: Generation = Generation.NEVER
    conversion: Object = field(default_factory=dict)
    verbs: tuple[str, ...] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    )

    @property
    def key(self) -> str:
        """The name under which the kind is stored: `plural.group`."""
        return qualified(self.group, self.plural)

    def version(self, name: str) -> ServedVersion | None:
        return next((version for version in self.versions if version.name == name), None)

    def api_version(self, version: str = "") -> str:
        version = version or self.storage
        if "/" in version:
            return version
        return f"{self.group}/{version}" if self.group else version

    @property
    def stored(self) -> ServedVersion:
        """The version in which objects are kept."""
        return next(version for version in self.versions if version.name == self.storage)


# Labels of fields that the API offers under another name, and numbers and booleans when unset.
_STORED_AS = {
    "status.successful": "status.succeeded",
    "regarding.kind": "involvedObject.kind",
    "regarding.name": "involvedObject.name",
}
_ABSENT = {"status.successful": "0", "spec.unschedulable": "false", "spec.hostNetwork": "false"}


def field_value(obj: Object, path: str) -> str:
    """Return what a field selector compares: the text at a dotted path, empty when absent."""
    value: Any = obj
    for step in _STORED_AS.get(path, path).split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        return _ABSENT.get(path, "")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
