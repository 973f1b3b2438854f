"""`metadata.managedFields`: who owns which field, kept up to date by every write."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from queueing.apiserver.change.field_paths import FieldPath, all_fields, differences, flat, nested
from queueing.apiserver.schema.structure import Structure
from queueing.apiserver.tree import Object, metadata

_UNOWNED_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """Who writes: one entry of managedFields per distinct value."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    def owns(self, entry: Object) -> bool:
        return (
            entry.get("manager") == self.name
            and entry.get("operation") == self.operation
            and entry.get("subresource", "") == self.subresource
            and entry.get("apiVersion") == self.api_version
        )

    def entry(self, fields: Object, now: str) -> Object:
        made: Object = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        return {**made, "subresource": self.subresource} if self.subresource else made


def owned_part(obj: Object) -> Object:
    """Return the object less what nobody owns: its type and what the server sets."""
    meta = {name: value for name, value in metadata(obj).items() if name not in _UNOWNED_METADATA}
    rest = {
        name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata")
    }
    return {**rest, "metadata": meta} if meta else rest


def of_creation(structure: Structure, obj: Object, manager: Manager, now: str) -> list[Object]:
    """Return the managed fields of a new object: all of it belongs to its creator."""
    fields = all_fields(structure, owned_part(obj))
    return [manager.entry(fields, now)] if fields else []


def after_update(
    structure: Structure, old: Object, new: Object, manager: Manager, now: str
) -> list[Object]:
    """Return the managed fields after a write that is no apply: it takes over what it changed."""
    entries: list[Object] = metadata(new).get("managedFields") or []
    changed: set[FieldPath] = set()
    gone: set[FieldPath] = set()
    for path, present in differences(structure, owned_part(old), owned_part(new)):
        (changed if present else gone).add(path)
    if not changed and not gone:
        return entries
    made: list[Object] = []
    ours: Object | None = None
    for entry in entries:
        if manager.owns(entry):
            ours = entry
            continue
        left = _less(entry, changed | gone)
        if left is not None:
            made.append(left)
    before = set(flat(ours["fieldsV1"])) if ours else set()
    after = (before | changed) - gone
    if ours is not None and after == before:
        made.append(ours)
    elif after:
        made.append(manager.entry(nested(after), now))
    return made


def _less(entry: Object, taken: set[FieldPath]) -> Object | None:
    """Return the entry less the paths taken; None when nothing is left of it."""
    paths = set(flat(entry.get("fieldsV1") or {}))
    left = paths - taken
    if left == paths:
        return entry
    return {**entry, "fieldsV1": nested(left)} if left else None


def entries_of(obj: Object) -> list[Object]:
    """Return the managed fields of an object."""
    found: list[Object] = metadata(obj).get("managedFields") or []
    return found


def paths_of(entry: Object) -> set[FieldPath]:
    """Return the paths that an entry owns."""
    return set(flat(entry.get("fieldsV1") or {}))


def less(entry: Object, taken: Iterable[FieldPath]) -> Object | None:
    """Return the entry less the paths taken; None when nothing is left of it."""
    return _less(entry, set(taken))


def with_entries(obj: Object, entries: list[Object]) -> Object:
    """Return the object with these managed fields."""
    meta: dict[str, Any] = {
        name: value for name, value in metadata(obj).items() if name != "managedFields"
    }
    if entries:
        meta["managedFields"] = entries
    return {**obj, "metadata": meta}
