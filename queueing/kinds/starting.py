"""What a start adds to an object, and its exact inverse, as the smallest patches.

A merge patch replaces lists whole, so what is inside a list of objects is sent as a JSON patch.

Invariant: for every object, what `start` and then `undo` change of it is nothing, to the byte; only
an empty map at a place outside a template, which a start found, is left out afterwards.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from queueing.kinds.compiler import Kind
from queueing.kinds.expressions import NoValueError
from queueing.kinds.paths import ABSENT, Step, Steps, put, steps
from queueing.kinds.pod_sets import PodSet, UnreadableError
from queueing.kinds.templates import Document, inject, restore
from queueing.kinds.view import View
from queueing.translate import labels
from queueing.translate.jobs.injection import ConflictError, Injection, Original
from queueing.translate.jobs.patches import JsonPatch, MergePatch, Patch

_MARK = ("metadata", "annotations", labels.STOPPING)


class NeverSuspendedError(ValueError):
    """An object of a kind whose pods are deleted, in place of a suspension that is undone."""


def start(view: View, added: Sequence[Injection]) -> list[Patch]:
    """Return the patches that let an object run with what its admission adds to each pod set.

    Two where the additions must be written first; none for an object that is queued through its
    pods. Raises ConflictError when the object contradicts the admission.
    """
    pod_sets = view.pod_sets
    wanted = len(pod_sets)
    if len(added) != wanted:
        raise ConflictError(f"invalid podset infos: expecting {wanted} podset, got {len(added)}")
    rule = view.kind.spec.suspend
    if rule.through_pods is not None:
        return []
    before, after = view.document(), view.document()
    if view.kind.hooks.start is not None:
        view.kind.hooks.start(view, after, added)
    else:
        for pod_set, one in zip(pod_sets, added, strict=True):
            inject(after, pod_set.places, one)
    for pod_set, one in zip(pod_sets, added, strict=True):
        if pod_set.min_count is not None:
            _write_count(view, after, pod_set, one.count)
    first = changes(before, after) if rule.additions == "BeforeStart" else []
    _release(view.kind, after)
    then = changes(before, after)
    if first:
        then = [one for one in then if one not in first]
    return [patch for found in (first, then) if found and (patch := patch_of(found))]


def undo(view: View, originals: Sequence[Original]) -> Patch | None:
    """Return the patch that suspends an object, restores what a start changed, takes our mark away.

    None when it is as it was. With another number of pod sets than the object has, which nobody can
    tell apart, it is only suspended. Raises NeverSuspendedError.
    """
    before, after = view.document(), _suspended(view)
    put(after, _MARK, ABSENT)
    if len(originals) == len(view.pod_sets):
        if view.kind.hooks.undo is not None:
            view.kind.hooks.undo(view, after, originals)
        else:
            for pod_set, one in zip(view.pod_sets, originals, strict=True):
                restore(after, pod_set, one)
        for pod_set, one in zip(view.pod_sets, originals, strict=True):
            _write_count(view, after, pod_set, one.count)
    return patch_of(changes(before, after))


def suspend(view: View, *, mark: bool = False) -> Patch | None:
    """Return the patch that only suspends an object, and marks it if wanted; None when it is.

    Raises NeverSuspendedError.
    """
    after = _suspended(view)
    if mark:
        put(after, _MARK, "true")
    return patch_of(changes(view.document(), after))


def reset(view: View) -> Patch | None:
    """Return the patch of the status that must come before `undo`; None when there is none."""
    found = [
        Change(steps(path), ABSENT)
        for path in view.kind.spec.suspend.reset
        if view.value(path) is not ABSENT
    ]
    return patch_of(found) if found else None


def _suspended(view: View) -> Document:
    field = view.kind.spec.suspend.field
    if field is None:
        raise NeverSuspendedError(f"a {view.kind.name} is not suspended: its pods are deleted")
    document = view.document()
    put(document, steps(field), value=True)
    return document


def _release(kind: Kind, document: Document) -> None:
    rule = kind.spec.suspend
    if rule.field is not None:
        put(document, steps(rule.field), value=False)
    elif rule.gate is not None:
        spec = document["spec"]
        kept = [one for one in spec.get("schedulingGates") or () if one["name"] != rule.gate]
        put(spec, ("schedulingGates",), kept or ABSENT)


def _write_count(view: View, document: Document, pod_set: PodSet, count: int) -> None:
    """Set the fields that follow the count of a pod set which may be admitted with fewer pods."""
    if pod_set.min_count is None or count == pod_set.count:
        return
    for index, (path, when) in enumerate(pod_set.rule.count_fields):
        try:
            holds = True if when is None else when.value(view.variables)
        except NoValueError as error:
            field = (*pod_set.rule.at, "countFields", index, "when")
            raise UnreadableError(field, str(error)) from error
        if holds is True:
            put(document, path, count)


class Change(NamedTuple):
    """One field with its new value; ABSENT removes it."""

    path: Steps
    value: Any
    new: bool = False
    """Whether the field was not there."""


def changes(before: Any, after: Any) -> list[Change]:
    """Return the changes that make the second document of the first."""
    found: list[Change] = []
    _compare(before, after, (), found)
    return found


def _compare(before: Any, after: Any, path: Steps, found: list[Change]) -> None:
    if type(before) is type(after) and before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        if gone := before.keys() - after.keys():
            found += [Change((*path, key), ABSENT) for key in before if key in gone]
        for key, value in after.items():
            if key not in before:
                found.append(Change((*path, key), value, new=True))
            elif before[key] != value or type(before[key]) is not type(value):
                _compare(before[key], value, (*path, key), found)
    elif _are_alike(before, after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            _compare(one, other, (*path, at), found)
    else:
        found.append(Change(path, after))


def patch_of(found: Sequence[Change]) -> Patch | None:
    """Return the patch that makes some changes; None when there are none."""
    if not found:
        return None
    if any(isinstance(step, int) for one in found for step in one.path):
        return JsonPatch(operations=[_operation(one) for one in found])
    body: dict[str, Any] = {}
    for one in found:
        put(body, one.path, None if one.value is ABSENT else one.value)
    return MergePatch(body=body)


def _are_alike(before: Any, after: Any) -> bool:
    """Say whether two lists have entries that are compared one by one."""
    if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(after):
        return False
    return all(isinstance(one, dict) for one in (*before, *after))


def _operation(change: Change) -> dict[str, Any]:
    path = "".join(f"/{_escaped(step)}" for step in change.path)
    if change.value is ABSENT:
        return {"op": "remove", "path": path}
    return {"op": "add" if change.new else "replace", "path": path, "value": change.value}


def _escaped(step: Step) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
