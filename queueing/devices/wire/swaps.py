"""Replaces extended resources in a pod template by others, and restores them.

A merge patch replaces whole lists, so that all containers are sent as they are, with only their
resources changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from queueing.devices.wire.names import CLASS_PREFIX
from queueing.translate.wire.pods import Container, PodTemplate

_template = msgspec.json.Decoder(dict[str, Any])
_LISTS = ("containers", "initContainers")


def swapped(template: msgspec.Raw, swaps: Mapping[str, str]) -> dict[str, Any]:
    """Return the part of a merge patch of a pod's spec that puts names in the place of others."""
    if not swaps:
        return {}
    spec = _template.decode(template).get("spec") or {}
    patch = {}
    for name in _LISTS:
        found = spec.get(name) or []
        changed = [_renamed(one, swaps) for one in found]
        if changed != found:
            patch[name] = changed
    return patch


def _renamed(container: dict[str, Any], swaps: Mapping[str, str]) -> dict[str, Any]:
    resources = container.get("resources")
    if not resources:
        return container
    changed = {
        part: {swaps.get(name, name): amount for name, amount in listed.items()}
        if part in ("requests", "limits")
        else listed
        for part, listed in resources.items()
    }
    return {**container, "resources": changed}


def unswapped(template: msgspec.Raw, now: PodTemplate, original: PodTemplate) -> dict[str, Any]:
    """Return the part of a merge patch that gives containers the resources they had; exact inverse.

    `now` is what was read of the template. Nothing is returned when the resources are the same.
    """
    pairs = (
        ("containers", now.spec.containers, original.spec.containers),
        ("initContainers", now.spec.init_containers, original.spec.init_containers),
    )
    changed = [(name, before) for name, found, before in pairs if not _same(found, before)]
    if not changed:
        return {}
    spec = _template.decode(template).get("spec") or {}
    return {name: _put_back(spec.get(name) or [], before) for name, before in changed}


def _same(found: Sequence[Container], before: Sequence[Container]) -> bool:
    return [one.resources for one in found] == [one.resources for one in before]


def _put_back(found: list[dict[str, Any]], before: Sequence[Container]) -> list[dict[str, Any]]:
    original = {one.name: one.resources for one in before}
    changed = []
    for container in found:
        resources = msgspec.to_builtins(original.get(container["name"])) or {}
        changed.append({**container, "resources": resources})
    return changed


def same_but_swapped(found: Sequence[Container], before: Sequence[Container]) -> bool:
    """Say whether containers differ at most in resources that stand for classes of devices."""
    return len(found) == len(before) and all(map(_is_swapped, found, before))


def _is_swapped(found: Container, before: Container) -> bool:
    if found == before:
        return True
    named, mine = before.resources, found.resources
    return msgspec.structs.replace(found, resources=named) == before and all(
        sorted(map(str, now.values())) == sorted(map(str, then.values()))
        and all(then.get(key) == value for key, value in now.items() if not _is_class(key))
        for now, then in ((mine.requests, named.requests), (mine.limits, named.limits))
    )


def _is_class(resource: str) -> bool:
    return resource.startswith(CLASS_PREFIX)
