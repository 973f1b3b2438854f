"""What a start adds to an object, and its exact inverse, as the smallest patches.

A merge patch replaces lists whole, so what is inside a list of objects is sent as a JSON patch.

Invariant: for every object, what `start` and then `undo` change of it is nothing, to the byte; only
an empty map at a place outside a template, which a start found, is left out afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from queueing.devices.wire.names import CLASS_PREFIX
from queueing.kinds.compiler import Kind
from queueing.kinds.expressions import NoValueError
from queueing.kinds.paths import ABSENT, Document, Step, Steps, clear, map_at, put, steps, value_at
from queueing.kinds.pod_sets import Places, PodSet, UnreadableError
from queueing.kinds.view import View
from queueing.translate import labels
from queueing.translate.jobs.injection import ConflictError, Injection, Original
from queueing.translate.jobs.patches import JsonPatch, MergePatch, Patch

_MARK = ("metadata", "annotations", labels.STOPPING)
_TEMPLATE_MAPS = (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector"))
_TEMPLATE_LISTS = (("spec", "tolerations"), ("spec", "schedulingGates"))
_CONTAINERS = (("spec", "initContainers"), ("spec", "containers"))


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


def inject(document: Document, places: Places, added: Injection) -> None:
    """Add to the pods of a set. Raises ConflictError."""
    for what, path, more in (
        ("label", places.labels, added.labels),
        ("annotation", places.annotations, added.annotations),
        ("node selector", places.node_selector, added.node_selector),
    ):
        if not more:
            continue
        found = map_at(document, path)
        for key in sorted(found.keys() & more.keys()):
            if more[key] != found[key]:
                raise ConflictError(
                    f"conflicting values for {what} {key!r}: {found[key]!r} and {more[key]!r}"
                )
        found.update(more)
    if added.tolerations:
        tolerations: list[dict[str, Any]] = msgspec.to_builtins(list(added.tolerations))
        _append(document, places.tolerations, tolerations)
    if added.scheduling_gates:
        gates = [{"name": name} for name in added.scheduling_gates]
        _append(document, places.scheduling_gates, gates)
    if added.swaps and places.in_template is not None:
        _swap(document, places.in_template, added.swaps)


def _append(document: Document, path: Steps, more: Iterable[dict[str, Any]]) -> None:
    found = value_at(document, path)
    kept = list(found) if isinstance(found, list) else []
    new = [one for one in more if one not in kept]
    if new:
        put(document, path, [*kept, *new])


def _swap(document: Document, template: Steps, swaps: Mapping[str, str]) -> None:
    """Put extended resources in the place of others, in every container."""
    for part, name in (
        (part, name)
        for path in _CONTAINERS
        for part in _containers(document, template, path)
        for name in ("requests", "limits")
    ):
        resources = part.get("resources") or {}
        if resources.get(name):
            renamed = {swaps.get(key, key): value for key, value in resources[name].items()}
            resources[name] = renamed


def _containers(document: Document, template: Steps, path: Steps) -> list[dict[str, Any]]:
    found = value_at(document, (*template, *path))
    return found if isinstance(found, list) else []


def restore(document: Document, pod_set: PodSet, original: Original) -> None:
    """Give a pod set what it had at the places where a start adds."""
    places = pod_set.places
    if places.in_template is None:
        _take_away(document, places, original)
        return
    kept = pod_set.rule.rule.controller_labels
    for path in _TEMPLATE_MAPS:
        want = value_at(original.template, path)
        if kept and path == _TEMPLATE_MAPS[0]:
            found = _map(document, (*places.in_template, *path))
            own = {key: found[key] for key in kept if key in found}
            want = {**(want or {}), **own} if own or want is not ABSENT else want
        _put_back(document, places.in_template, path, want)
    for path in _TEMPLATE_LISTS:
        _put_back(document, places.in_template, path, value_at(original.template, path))
    if "metadata" not in original.template and not _map(
        document, (*places.in_template, "metadata")
    ):
        put(document, (*places.in_template, "metadata"), ABSENT)
    for path in _CONTAINERS:
        _swap_back(document, (*places.in_template, *path), value_at(original.template, path))


def _put_back(document: Document, template: Steps, path: Steps, want: Any) -> None:
    if value_at(document, (*template, *path)) != want:
        put(document, (*template, *path), want)


def _swap_back(document: Document, path: Steps, want: Any) -> None:
    """Give containers back the resources in which others stand for some, by name."""
    had = {one.get("name"): one for one in want if isinstance(one, dict)} if want else {}
    found = value_at(document, path)
    for one in found if isinstance(found, list) else ():
        before = had.get(one.get("name"), {}).get("resources") or {}
        resources = one.get("resources") or {}
        for name in ("requests", "limits"):
            had_then, now = before.get(name) or {}, resources.get(name) or {}
            if any(key.startswith(CLASS_PREFIX) and key not in had_then for key in now):
                resources[name] = dict(had_then)


def _take_away(document: Document, places: Places, original: Original) -> None:
    """Remove what the original did not have from places that are fields of their own."""
    for path, where in zip(
        _TEMPLATE_MAPS, (places.labels, places.annotations, places.node_selector), strict=True
    ):
        want, found = _map(original.template, path), _map(document, where)
        kept = {key: want[key] for key in found if key in want}
        _replace(document, where, found, kept)
    for path, where in zip(
        _TEMPLATE_LISTS, (places.tolerations, places.scheduling_gates), strict=True
    ):
        had, now = value_at(original.template, path), value_at(document, where)
        if isinstance(now, list):
            _replace(document, where, now, [one for one in now if one in (had or ())])


def _replace(document: Document, path: Steps, found: Any, kept: Any) -> None:
    """Put what is left of a place; one that is empty now, and the maps around it, are left out."""
    if kept:
        put(document, path, kept)
    elif found:
        clear(document, path)


def _map(document: Mapping[str, Any], path: Steps) -> dict[str, Any]:
    found = value_at(document, path)
    return found if isinstance(found, dict) else {}


class Change(NamedTuple):
    """One field with its new value; ABSENT removes it."""

    path: Steps
    value: Any
    new: bool = False
    """Whether the field was not there."""


def changes(before: Any, after: Any) -> list[Change]:
    """Return the changes that make the second document of the first."""
    found: list[Change] = []
    left: list[tuple[Steps, Any, Any]] = [((), before, after)]
    while left:
        path, one, other = left.pop()
        differ: list[tuple[Steps, Any, Any]] = []
        if isinstance(one, dict) and isinstance(other, dict):
            for key, had in one.items():
                if key not in other:
                    differ.append(((*path, key), had, ABSENT))
            for key, has in other.items():
                had = one.get(key, ABSENT)
                if type(had) is not type(has) or had != has:
                    differ.append(((*path, key), had, has))
        elif isinstance(one, list) and _are_alike(one, other):
            for at, (had, has) in enumerate(zip(one, other, strict=True)):
                if had != has:
                    differ.append(((*path, at), had, has))
        else:
            found.append(Change(path, other, new=one is ABSENT))
        left += reversed(differ)
    return found


def patch_of(found: Sequence[Change]) -> Patch | None:
    """Return the patch that makes some changes; None when there are none."""
    if not found:
        return None
    if any(isinstance(step, int) for one in found for step in one.path):
        return JsonPatch(operations=[_operation(one) for one in found])
    body: dict[str, Any] = {}
    for one in found:
        *above, last = map(str, one.path)
        place = body
        for step in above:
            place = place.setdefault(step, {})
        place[last] = None if one.value is ABSENT else one.value
    return MergePatch(body=body)


def _are_alike(before: list[Any], after: Any) -> bool:
    """Say whether the entries of a list are compared one by one with those of its successor."""
    if not isinstance(after, list) or len(before) != len(after):
        return False
    return all(isinstance(one, dict) for one in (*before, *after))


def _operation(change: Change) -> dict[str, Any]:
    path = "".join(f"/{_escaped(step)}" for step in change.path)
    if change.value is ABSENT:
        return {"op": "remove", "path": path}
    return {"op": "add" if change.new else "replace", "path": path, "value": change.value}


def _escaped(step: Step) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
