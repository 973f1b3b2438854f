"""What a start adds to an object, and its exact inverse, as patches.

Invariant: for every object, what `start` and then `undo` change of it is nothing, to the byte; only
an empty map at a place outside a template, which a start found, is left out afterwards.
"""

from collections.abc import Sequence

from queueing.kinds.changes import changes, patch_of
from queueing.kinds.compiler import Kind
from queueing.kinds.expressions import NoValueError
from queueing.kinds.paths import ABSENT, put, steps
from queueing.kinds.pod_sets import PodSet, UnreadableError
from queueing.kinds.templates import Document, inject, restore
from queueing.kinds.view import View
from queueing.translate.jobs.injection import ConflictError, Injection, Original
from queueing.translate.jobs.patches import Patch


class NeverSuspendedError(ValueError):
    """An object of a kind whose pods are deleted, in place of a suspension that is undone."""


def start(view: View, added: Sequence[Injection]) -> list[Patch]:
    """Return the patches that let an object run with what its admission adds to each pod set.

    Two where the additions must be written first; none for an object that is queued through its
    pods. Raises ConflictError when the object contradicts the admission.
    """
    wanted = len(view.pod_sets)
    if len(added) != wanted:
        raise ConflictError(f"invalid podset infos: expecting {wanted} podset, got {len(added)}")
    rule = view.kind.spec.suspend
    if rule.through_pods is not None:
        return []
    before, after = view.document(), view.document()
    if view.kind.hooks.start is not None:
        view.kind.hooks.start(view, after, added)
    else:
        for pod_set, one in zip(view.pod_sets, added, strict=True):
            inject(after, pod_set.places, one)
    for pod_set, one in zip(view.pod_sets, added, strict=True):
        _write_count(view, after, pod_set, one.count)
    first = list(changes(before, after)) if rule.additions == "BeforeStart" else []
    _release(view.kind, after)
    then = [one for one in changes(before, after) if one not in first]
    return [found for found in (patch_of(first), patch_of(then)) if found is not None]


def undo(view: View, originals: Sequence[Original]) -> Patch | None:
    """Return the patch that suspends an object and restores what a start changed.

    None when it is as it was. With another number of pod sets than the object has, which nobody can
    tell apart, it is only suspended. Raises NeverSuspendedError.
    """
    before, after = view.document(), _suspended(view)
    if len(originals) == len(view.pod_sets):
        if view.kind.hooks.undo is not None:
            view.kind.hooks.undo(view, after, originals)
        else:
            for pod_set, one in zip(view.pod_sets, originals, strict=True):
                restore(after, pod_set, one)
        for pod_set, one in zip(view.pod_sets, originals, strict=True):
            _write_count(view, after, pod_set, one.count)
    return patch_of(list(changes(before, after)))


def suspend(view: View) -> Patch | None:
    """Return the patch that only suspends an object; None when it is.

    Raises NeverSuspendedError.
    """
    return patch_of(list(changes(view.document(), _suspended(view))))


def reset(view: View) -> Patch | None:
    """Return the patch of the status that must come before `undo`; None when there is none."""
    before, after = view.document(), view.document()
    for path in view.kind.spec.suspend.reset:
        put(after, steps(path), ABSENT)
    return patch_of(list(changes(before, after)))


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
