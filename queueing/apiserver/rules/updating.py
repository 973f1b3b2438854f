"""From what is stored and what a client sent to what is stored next."""

from typing import Any

from queueing.apiserver.failures import StatusCause, forbidden_value, invalid, invalid_value
from queueing.apiserver.resources.resource import Generation, Resource
from queueing.apiserver.rules.kinds import KINDS
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import ROOT_FIELDS, Object, metadata, without, without_fields

_KEPT = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "namespace",
    "name",
)


def updated(resource: Resource, old: Object, new: Object, subresource: str) -> Object:
    """Return `new` with what an update may not touch taken from `old`."""
    if subresource == "status":
        made = _status_only(resource, old, new)
    elif resource.stored.has_status:
        made = {**without(new, ("status",))}
        if "status" in old:
            made["status"] = old["status"]
    else:
        made = new
    made = {**made, "metadata": _kept_metadata(old, made)}
    rule = KINDS.get(resource.key)
    if rule:
        made = rule.on_update(old, made)
    if resource.generation is not Generation.NEVER:
        made["metadata"]["generation"] = _generation(resource, old, made)
    return made


def _status_only(resource: Resource, old: Object, new: Object) -> Object:
    made = {**without(old, ("status",))}
    if "status" in new:
        made["status"] = new["status"]
    if resource.custom:
        return {
            **made,
            "metadata": {**metadata(old), "managedFields": metadata(new).get("managedFields")},
        }
    return {**made, "metadata": metadata(new)}


def _kept_metadata(old: Object, new: Object) -> Object:
    before, meta = metadata(old), {**metadata(new)}
    for name in (*_KEPT, "resourceVersion", "generateName"):
        if name in before:
            meta[name] = before[name]
        else:
            meta.pop(name, None)
    return {key: value for key, value in meta.items() if value not in (None, {}, [])}


def _generation(resource: Resource, old: Object, new: Object) -> int:
    before = int(metadata(old).get("generation") or 0)
    if resource.generation is Generation.SPEC:
        changed = old.get("spec") != new.get("spec")
    else:
        changed = _without_outside(resource, old) != _without_outside(resource, new)
    return before + 1 if changed else before


def _without_outside(resource: Resource, obj: Object) -> dict[str, Any]:
    outside = resource.stored.has_status or not resource.custom
    return without_fields(obj, ROOT_FIELDS | {"status"} if outside else ROOT_FIELDS)


def same(old: Object, new: Object) -> bool:
    """Tell whether a write would change nothing but its own bookkeeping."""
    if any(old.get(name) != new.get(name) for name in {*old, *new} if name != "metadata"):
        return False
    before, after = metadata(old), metadata(new)
    hidden = {"managedFields", "resourceVersion"}
    if any(before.get(name) != after.get(name) for name in {*before, *after} - hidden):
        return False
    return _owned(before) == _owned(after)


def _owned(meta: Object) -> list[Object]:
    """Return the managed fields less their times, which alone are no reason to write."""
    return [{**entry, "time": None} for entry in meta.get("managedFields") or ()]


def check_identity(resource: Resource, old: Object, new: Object) -> None:
    """Refuse (422) to change what identifies the object."""
    causes: list[StatusCause] = []
    before, after = metadata(old), metadata(new)
    for name in ("name", "namespace", "uid"):
        if after.get(name) and before.get(name) != after.get(name):
            detail = "field is immutable"
            causes.append(invalid_value(f"metadata.{name}", shown(after[name]), detail))
    if before.get("deletionTimestamp"):
        added = set(after.get("finalizers") or ()) - set(before.get("finalizers") or ())
        if added:
            listing = ", ".join(shown(name) for name in sorted(added))
            detail = (
                "no new finalizers can be added if the object is being "
                f"deleted, found new finalizers []string{{{listing}}}"
            )
            causes.append(forbidden_value("metadata.finalizers", detail))
    if causes:
        raise invalid(resource.group, resource.kind, str(before.get("name")), causes)
