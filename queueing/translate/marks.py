"""Annotations that ask for features that are not supported: reported by name, never ignored."""

from collections.abc import Collection, Iterator

from queueing.translate import labels
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.pods import PodTemplate

_PLACEMENT = "placement by topology is not there"
REFUSED = {
    labels.ELASTIC: "elastic jobs are not there",
    labels.TOPOLOGY_REQUIRED: _PLACEMENT,
    labels.TOPOLOGY_PREFERRED: _PLACEMENT,
    labels.TOPOLOGY_UNCONSTRAINED: _PLACEMENT,
    labels.TOPOLOGY_SLICE: _PLACEMENT,
    labels.TOPOLOGY_SLICES: _PLACEMENT,
}
"""What each asks for. A value of `false` asks for nothing."""
BY_GATE = {
    "ElasticJobsViaWorkloadSlices": (labels.ELASTIC,),
    "TopologyAwareScheduling": (
        labels.TOPOLOGY_REQUIRED,
        labels.TOPOLOGY_PREFERRED,
        labels.TOPOLOGY_UNCONSTRAINED,
        labels.TOPOLOGY_SLICE,
        labels.TOPOLOGY_SLICES,
    ),
}
"""With its gate off an annotation means nothing, as in Kueue, and is not refused either."""


def refused_marks(template: PodTemplate, meta: Meta, refused: Collection[str]) -> Iterator[str]:
    """Give the refused annotations of a job, or of a Workload, and of its pod template."""
    for name in REFUSED:
        here = meta.annotations if name == labels.ELASTIC else template.metadata.annotations
        if name in refused and here.get(name, "false") != "false":
            yield name


def refusal_of(name: str) -> str:
    """Return the sentence that refuses an annotation, and the way out."""
    return f"annotation {name}: {REFUSED[name]}; without the annotation it can be admitted"
