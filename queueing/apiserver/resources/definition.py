"""Turn a CustomResourceDefinition into the kind that it defines."""

from types import MappingProxyType
from typing import Any

from queueing.apiserver.resources.resource import Column, Generation, Resource, ServedVersion
from queueing.apiserver.tree import Object, dig
from queueing_api.crd.defaulting import has_defaults

_AGE = Column(
    name="Age",
    path=".metadata.creationTimestamp",
    type="date",
    description=(
        "CreationTimestamp is a timestamp representing the server time when this object "
        "was created."
    ),
)


def defined_kind(definition: Object) -> Resource:
    """Return the kind of a valid CustomResourceDefinition; only served versions are in it."""
    spec = definition["spec"]
    names = spec["names"]
    served = tuple(_served(version) for version in spec["versions"] if version.get("served"))
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    if storage not in {version.name for version in served}:
        hidden = next(version for version in spec["versions"] if version["name"] == storage)
        served = (*served, _served(hidden))
    return Resource(
        group=spec["group"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or f"{names['kind']}List",
        versions=served,
        storage=storage,
        namespaced=spec.get("scope") == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        custom=True,
        generation=Generation.ALL_BUT_STATUS,
        conversion=spec.get("conversion") or {"strategy": "None"},
    )


def _served(version: Object) -> ServedVersion:
    schema = dig(version, "schema", "openAPIV3Schema", default={})
    subresources = version.get("subresources") or {}
    selectable = {
        entry["jsonPath"].lstrip("."): entry["jsonPath"].lstrip(".")
        for entry in version.get("selectableFields") or ()
    }
    return ServedVersion(
        name=version["name"],
        schema=schema,
        columns=tuple(_column(entry) for entry in version.get("additionalPrinterColumns") or ())
        or (_AGE,),
        selectable=MappingProxyType(selectable),
        has_status="status" in subresources,
        scale=subresources.get("scale"),
        defaults=has_defaults(schema),
        deprecation=_deprecation(version),
    )


def _column(entry: dict[str, Any]) -> Column:
    return Column(
        name=entry["name"],
        path=entry["jsonPath"],
        type=entry["type"],
        format=entry.get("format", ""),
        description=entry.get("description", ""),
        priority=entry.get("priority", 0),
    )


def _deprecation(version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    return str(version.get("deprecationWarning") or "deprecated")
