"""Annotations that ask for features that are not supported: reported by name, never ignored."""

from collections.abc import Collection, Iterator

from queueing.translate import labels
from queueing.translate.wire.pods import PodTemplate

_PLACEMENT = "placement by topology is not there"
REFUSED = {
    labels.TOPOLOGY_REQUIRED: _PLACEMENT,
    labels.TOPOLOGY_PREFERRED: _PLACEMENT,
    labels.TOPOLOGY_UNCONSTRAINED: _PLACEMENT,
    labels.TOPOLOGY_SLICE: _PLACEMENT,
    labels.TOPOLOGY_SLICES: _PLACEMENT,
}
"""What each asks for. A value of `false` asks for nothing."""
BY_GATE = {
    "TopologyAwareScheduling": (
        labels.TOPOLOGY_REQUIRED,
        labels.TOPOLOGY_PREFERRED,
        labels.TOPOLOGY_UNCONSTRAINED,
        labels.TOPOLOGY_SLICE,
        labels.TOPOLOGY_SLICES,
    ),
}
"""With its gate off an annotation means nothing, as in Kueue, and is not refused either."""


def refused_marks(template: PodTemplate, refused: Collection[str]) -> Iterator[str]:
    """Give the refused annotations of a pod template."""
    for name in REFUSED:
        if name in refused and template.metadata.annotations.get(name, "false") != "false":
            yield name


def refusal_of(name: str) -> str:
    """Return the sentence that refuses an annotation, and the way out."""
    return f"annotation {name}: {REFUSED[name]}; without the annotation it can be admitted"
