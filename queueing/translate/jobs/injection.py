"""What a start adds to pods, and to one that exists already.

`queueing.kinds.starting` adds it to the pod templates of jobs, and takes it away again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from queueing.devices.wire.realisation import PodChanges
from queueing.translate import labels
from queueing.translate.wire.pods import PodTemplate, Toleration
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import PodSetAssignment, PodSetUpdate

_LABEL_VALUE_MAX = 63
_MAPS = (
    ("label", "metadata", "labels"),
    ("annotation", "metadata", "annotations"),
    ("node selector", "spec", "nodeSelector"),
)


_ANYWHERE = labels.TOPOLOGY_UNCONSTRAINED
_LEVELS = (labels.TOPOLOGY_REQUIRED, labels.TOPOLOGY_PREFERRED, _ANYWHERE)


class ConflictError(ValueError):
    """A key would need two values: the job can never start as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What is added to the pods of one set."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    swaps: Mapping[str, str] = field(default_factory=dict)
    """Extended resources, and those that take their place in every container."""
    count: int = 0

    def merged(self, update: PodSetUpdate) -> "Injection":
        """Add what an admission check asks for. Raises ConflictError."""
        return replace(
            self,
            labels=_joined("label", self.labels, update.labels),
            annotations=_joined("annotation", self.annotations, update.annotations),
            node_selector=_joined("node selector", self.node_selector, update.node_selector),
            tolerations=_together(self.tolerations, update.tolerations),
        )

    def with_changes(self, changes: PodChanges) -> "Injection":
        """Add what gives the pods their devices. Raises ConflictError."""
        return replace(
            self,
            labels=_joined("label", self.labels, changes.labels),
            annotations=_joined("annotation", self.annotations, changes.annotations),
            scheduling_gates=(*self.scheduling_gates, *changes.gates),
            swaps={**self.swaps, **changes.swaps},
        )

    def sliced(self, first: str) -> "Injection":
        """Add what pods of an elastic job have: the first slice, and a gate until one covers them.

        A job that grows has pods at once for which no quota is reserved yet.
        """
        return replace(
            self,
            annotations={**self.annotations, labels.SLICE_NAME: first},
            scheduling_gates=(*self.scheduling_gates, labels.ELASTIC),
        )

    def placed(self, asked: Mapping[str, str], first: int = 0) -> "Injection":
        """Add what pods have whose nodes a topology chooses, by the annotations of their template.

        A gate, until it is known which node each of them goes to; the mark of such pods, if they
        asked for no level; and `first`, the number of the first of them, unless the template says
        it, or that they are numbered together with others.
        """
        marks = {} if any(name in asked for name in _LEVELS) else {_ANYWHERE: "true"}
        if first and not (labels.INDEX_OFFSET in asked or labels.TOPOLOGY_GROUP in asked):
            marks[labels.INDEX_OFFSET] = str(first)
        return replace(
            self,
            annotations={**self.annotations, **marks},
            scheduling_gates=(*self.scheduling_gates, labels.TOPOLOGY_GATE),
        )

    def handing_down(self, traceparent: str) -> "Injection":
        """Add a trace context, so that the pods can join the trace."""
        if not traceparent:
            return self
        annotations = {**self.annotations, labels.TRACE_PARENT: traceparent}
        return replace(self, annotations=annotations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A pod set as a Workload keeps it: what a stop restores."""

    template: Mapping[str, Any]
    count: int


def injection_of(
    assignment: PodSetAssignment,
    flavors: Iterable[ResourceFlavor],
    *,
    marks: Mapping[str, str],
    workload: str,
) -> Injection:
    """Collect what the assigned flavors and the admission itself add; `marks` are labels.

    Raises ConflictError when two flavors of one pod set disagree.
    """
    selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    for flavor in flavors:
        if flavor.spec.node_labels:
            selector = _joined("node selector", selector, flavor.spec.node_labels)
        if flavor.spec.tolerations:
            tolerations = _together(tolerations, flavor.spec.tolerations)
    valid = {key: value for key, value in marks.items() if 0 < len(value) <= _LABEL_VALUE_MAX}
    return Injection(
        labels={labels.POD_SET: assignment.name, **valid},
        annotations={labels.POD_WORKLOAD: workload},
        node_selector=selector,
        tolerations=tolerations,
        count=assignment.count or 0,
    )


def inject(template: PodTemplate, added: Injection) -> dict[str, Any]:
    """Return the merge patch of a template. Raises ConflictError."""
    patch: dict[str, dict[str, Any]] = {}
    wanted = (added.labels, added.annotations, added.node_selector)
    for (what, part, name), found, more in zip(_MAPS, _maps(template), wanted, strict=True):
        if more:
            gained = _gained(what, found, more)
            if gained:
                patch.setdefault(part, {})[name] = gained
    if added.tolerations:
        own = tuple(template.spec.tolerations)
        together = _together(own, added.tolerations)
        if together != own:
            patch.setdefault("spec", {})["tolerations"] = msgspec.to_builtins(together)
    if added.scheduling_gates:
        gates = [gate.name for gate in template.spec.scheduling_gates]
        more_gates = [name for name in added.scheduling_gates if name not in gates]
        if more_gates:
            named = [{"name": name} for name in (*gates, *more_gates)]
            patch.setdefault("spec", {})["schedulingGates"] = named
    return patch


def _maps(template: PodTemplate) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    meta = template.metadata
    return meta.labels, meta.annotations, template.spec.node_selector


def _joined(what: str, first: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    return {**first, **_gained(what, first, more)}


def _gained(what: str, first: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return what there is only in `more`. Raises ConflictError for a key with two values."""
    gained = {}
    for key, value in sorted(more.items()):
        if key not in first:
            gained[key] = value
        elif first[key] != value:
            raise ConflictError(
                f"conflicting values for {what} {key!r}: {first[key]!r} and {value!r}"
            )
    return gained


def _together(first: Iterable[Toleration], more: Iterable[Toleration]) -> tuple[Toleration, ...]:
    kept = tuple(first)
    return kept + tuple(one for one in dict.fromkeys(more) if one not in kept)
