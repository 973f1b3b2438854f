"""What marks pod templates, so that the pods made of them are gated when they are created.

The marks are those of a kind's description. They are spelled once, as the CEL of the mutating
policy, which webhooks evaluate on older servers.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from queueing.webhooks.patches import added, optional, room, when
from queueing.webhooks.suspension import MarkedKind
from queueing_api.queueing.v1alpha1.queueable_kind import ThroughPods

PARENT: Final = "kueue.x-k8s.io/pod-suspending-parent"
"""Annotation of a pod whose queue is that of another object, by the framework of that."""


def is_its_own(kind: MarkedKind, thing: str = "object") -> str:
    """Say in CEL that no other object is queued in place of one, by the marks of its templates.

    The StatefulSets that a LeaderWorkerSet makes have its marks.
    """
    mine = kind.through.annotations[PARENT]
    named = (
        f"{optional(thing, path)}.?metadata.?annotations[?'{PARENT}'].orValue('{mine}') == '{mine}'"
        for path in kind.through.templates
    )
    return " && ".join(named)


def marking(through: ThroughPods) -> str:
    """Return in CEL the JSON patches that mark all pod templates of an object."""
    return " + ".join(
        when(
            f"{optional('object', path)}.hasValue()",
            " + ".join(_marks(through, path.split("."))),
        )
        for path in through.templates
    )


def _marks(through: ThroughPods, template: Sequence[str]) -> Iterator[str]:
    metadata = [*template, "metadata"]
    labels, annotations = [*metadata, "labels"], [*metadata, "annotations"]
    yield from map(room, (metadata, labels, annotations))
    for place, marks in ((labels, through.labels), (annotations, through.annotations)):
        for name, value in marks.items():
            yield added([*place, name], repr(value))
    for name in through.copied_labels:
        mine = f"object.metadata.?labels[?'{name}']"
        yield when(f"{mine}.orValue('') != ''", added([*labels, name], f"{mine}.orValue('')"))
