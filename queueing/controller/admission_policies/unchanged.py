"""Whether an object on the server equals what we would apply, so that it need not be written.

A write that changes nothing costs the server as much as any other; for an admission policy that
includes the compilation of all its CEL expressions.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Wire = Mapping[str, Any]

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "scope": "*",
    }
)
"""Defaults that the server fills into admission policies, by the name of the field."""


def is_unchanged(found: Wire | None, wanted: Wire) -> bool:
    """Say whether applying `wanted` would leave the object `found` as it is.

    Its spec must be equal but for the server's defaults, so that fields count which somebody added
    or removed. Of its metadata only what is wanted matters. In doubt, False.
    """
    if found is None or "deletionTimestamp" in found["metadata"]:
        return False
    return _same(found.get("spec"), wanted.get("spec")) and _bears(
        found["metadata"], wanted["metadata"]
    )


def _same(found: Any, wanted: Any) -> bool:
    match found, wanted:
        case Mapping(), Mapping():
            return all(_same(found.get(key), value) for key, value in wanted.items()) and all(
                key in wanted or (key in DEFAULTS and found[key] == DEFAULTS[key]) for key in found
            )
        case list(), list() | tuple():
            return len(found) == len(wanted) and all(
                _same(one, other) for one, other in zip(found, wanted, strict=True)
            )
        case _:
            return bool(found == wanted)


def _bears(found: Wire, wanted: Wire) -> bool:
    """Say whether metadata has at least the wanted annotations and owner references."""
    annotations, owners = found.get("annotations") or {}, found.get("ownerReferences") or ()
    return wanted.get("annotations", {}).items() <= annotations.items() and all(
        one in owners for one in wanted.get("ownerReferences", ())
    )
