"""Additions to the pods of one set, and their removal, in a document of plain values."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from queueing.devices.wire.names import CLASS_PREFIX
from queueing.kinds.paths import ABSENT, Steps, clear, put, value_at
from queueing.kinds.pod_sets import Places, PodSet
from queueing.translate.jobs.injection import ConflictError, Injection, Original

Document = dict[str, Any]
"""An object as plain values, as far as its kind reads it."""

_TEMPLATE_MAPS = (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector"))
_TEMPLATE_LISTS = (("spec", "tolerations"), ("spec", "schedulingGates"))
_CONTAINERS = (("spec", "initContainers"), ("spec", "containers"))


def inject(document: Document, places: Places, added: Injection) -> None:
    """Add to the pods of a set. Raises ConflictError."""
    for what, path, more in (
        ("label", places.labels, added.labels),
        ("annotation", places.annotations, added.annotations),
        ("node selector", places.node_selector, added.node_selector),
    ):
        if not more:
            continue
        there = value_at(document, path)
        found = there if isinstance(there, dict) else {}
        joined = {**found, **more}
        for key in sorted(found):
            if joined[key] != found[key]:
                raise ConflictError(
                    f"conflicting values for {what} {key!r}: {found[key]!r} and {joined[key]!r}"
                )
        if joined != found:
            put(document, path, joined)
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
