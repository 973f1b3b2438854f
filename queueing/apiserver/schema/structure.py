"""How lists and maps of a kind merge: by schema for custom kinds, by name for built-in ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from queueing.apiserver.tree import Object


class ListKind(StrEnum):
    """What one element of a list is to an owner of fields."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


BUILTIN_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "addresses": ("type",),
        "conditions": ("type",),
        "containers": ("name",),
        "env": ("name",),
        "ephemeralContainers": ("name",),
        "hostAliases": ("ip",),
        "imagePullSecrets": ("name",),
        "initContainers": ("name",),
        "ownerReferences": ("uid",),
        "ports": ("containerPort", "protocol"),
        "resourceClaims": ("name",),
        "schedulingGates": ("name",),
        "secrets": ("name",),
        "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
        "volumeDevices": ("devicePath",),
        "volumeMounts": ("mountPath",),
        "volumes": ("name",),
        "webhooks": ("name",),
        "matchConditions": ("name",),
    }
)
_BUILTIN_SETS = frozenset({"finalizers"})
_BUILTIN_ATOMIC = frozenset(
    {"selector", "nodeSelector", "labelSelector", "namespaceSelector", "objectSelector"}
)


@dataclass(frozen=True, slots=True)
class Structure:
    """The merge rules at one place of a tree; `schema` is None for built-in kinds."""

    schema: Object | None
    name: str = ""

    def child(self, name: str) -> "Structure":
        """Return the rules for a field, or for a value of a free-form map."""
        if self.schema is None or (name == "metadata" and not self.name):
            return Structure(None, name)
        properties = self.schema.get("properties") or {}
        more = self.schema.get("additionalProperties")
        part = properties.get(name, more if isinstance(more, dict) else {})
        return Structure(part, name or "?")

    def item(self) -> "Structure":
        """Return the rules for the elements of a list."""
        if self.schema is None:
            return Structure(None, f"{self.name}[]")
        items = self.schema.get("items")
        return Structure(items if isinstance(items, dict) else {}, "[]")

    @property
    def list_kind(self) -> ListKind:
        if self.schema is None:
            if self.name in _BUILTIN_SETS:
                return ListKind.SET
            return ListKind.MAP if self.name in BUILTIN_KEYS else ListKind.ATOMIC
        return ListKind(self.schema.get("x-kubernetes-list-type") or "atomic")

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that tell the elements of a map-like list apart."""
        if self.schema is None:
            return BUILTIN_KEYS[self.name]
        return tuple(self.schema.get("x-kubernetes-list-map-keys") or ())

    @property
    def atomic_map(self) -> bool:
        """Tell whether an object here is owned and replaced as a whole."""
        if self.schema is None:
            return self.name in _BUILTIN_ATOMIC
        return self.schema.get("x-kubernetes-map-type") == "atomic"

    def key_of(self, item: Any) -> Object:
        """Return the identifying fields of an element, with the defaults of the schema."""
        defaults: Object = {}
        if self.schema is None:
            defaults = {"protocol": "TCP"} if "protocol" in self.keys else {}
            if (
                "containerPort" in self.keys
                and isinstance(item, dict)
                and "containerPort" not in item
            ):
                return {name: item[name] for name in ("port", "protocol") if name in item}
        else:
            properties = (self.schema.get("items") or {}).get("properties") or {}
            defaults = {
                name: part["default"] for name, part in properties.items() if "default" in part
            }
        found = item if isinstance(item, dict) else {}
        return {
            name: found.get(name, defaults.get(name))
            for name in sorted(self.keys)
            if name in found or name in defaults
        }
