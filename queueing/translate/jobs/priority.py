"""The priority of a Job: by its WorkloadPriorityClass, or its pods' PriorityClass."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from queueing.translate.wire.cluster import PriorityClass
from queueing.translate.wire.queues import WorkloadPriorityClass


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClasses:
    """All classes, by name."""

    workload: Mapping[str, WorkloadPriorityClass] = field(default_factory=dict)
    pod: Mapping[str, PriorityClass] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """A priority and, unless it is the default of 0, the class it is from."""

    value: int
    reference: Mapping[str, str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of a Workload's spec."""
        if self.reference is None:
            return {"priority": self.value}
        return {"priority": self.value, "priorityClassRef": dict(self.reference)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingClass:
    """A class that is named but does not exist."""

    kind: str
    name: str


def priority_of(
    workload_class: str, pod_class: str, classes: PriorityClasses
) -> Priority | MissingClass:
    """Resolve: WorkloadPriorityClass label, pods' PriorityClass, global default, 0."""
    if workload_class:
        queueing = classes.workload.get(workload_class)
        if queueing is None:
            return MissingClass(kind="WorkloadPriorityClass", name=workload_class)
        return Priority(
            value=queueing.value,
            reference=_reference("kueue.x-k8s.io", "WorkloadPriorityClass", workload_class),
        )
    found = classes.pod.get(pod_class) if pod_class else _global_default(classes)
    if found is None:
        if pod_class:
            return MissingClass(kind="PriorityClass", name=pod_class)
        return Priority(value=0)
    name = found.metadata.name
    return Priority(
        value=found.value, reference=_reference("scheduling.k8s.io", "PriorityClass", name)
    )


def _global_default(classes: PriorityClasses) -> PriorityClass | None:
    """Return the default class; of several, the least, as the API server picks."""
    defaults = [one for one in classes.pod.values() if one.global_default]
    return min(defaults, key=lambda one: (one.value, one.metadata.name), default=None)


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "kind": kind, "name": name}
