"""What differs between two documents, as the smallest patch that a Kubernetes API server takes.

A merge patch replaces lists whole, so what is inside a list of objects is sent as a JSON patch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from queueing.kinds.paths import ABSENT, Step, Steps, put
from queueing.translate.jobs.patches import JsonPatch, MergePatch, Patch


@dataclass(frozen=True, slots=True)
class Change:
    """One field with its new value; ABSENT removes it."""

    path: Steps
    value: Any
    new: bool = False
    """Whether the field was not there."""


def changes(before: Any, after: Any, path: Steps = ()) -> Iterator[Change]:
    """Yield the changes that make the second document of the first."""
    if type(before) is type(after) and before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield Change((*path, key), ABSENT)
        for key, value in after.items():
            if key in before:
                yield from changes(before[key], value, (*path, key))
            else:
                yield Change((*path, key), value, new=True)
    elif _are_alike(before, after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, (*path, at))
    else:
        yield Change(path, after)


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
