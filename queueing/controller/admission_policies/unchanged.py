"""Whether an object on the server already says what we would write: then it is left alone.

Writing what is there already costs the server as much as writing something new, and for an
admission policy that is the compilation of all its expressions.
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
"""What the server fills into an admission policy where nothing is said, by the field's name."""


def is_unchanged(found: Wire | None, wanted: Wire) -> bool:
    """Say whether to apply `wanted` would change nothing of an object that was read.

    Its spec must be the same but for the server's defaults, so that a field that somebody added or
    took away counts; of its metadata only what is wanted matters. When in doubt it is not alike.
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
    """Say whether metadata has at least the annotations and owners that are wanted."""
    annotations, owners = found.get("annotations") or {}, found.get("ownerReferences") or ()
    return wanted.get("annotations", {}).items() <= annotations.items() and all(
        one in owners for one in wanted.get("ownerReferences", ())
    )
