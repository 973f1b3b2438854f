"""Metrics of what happens to workloads, for their ClusterQueue and for their LocalQueue.

Invariant: what is counted for a ClusterQueue is counted for the workload's LocalQueue as well, in
the metric of the same name with the prefix `local_queue_`, unless that does not exist
(`WorkloadMetrics.count_once`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from queueing.core.names import Key, QueueName
from queueing.observe.metrics import Family, Metrics, Series
from queueing.reports.views import QueueView
from queueing.translate.wire.workloads import Workload

HOLDERS: Mapping[str, Callable[[QueueView], int]] = MappingProxyType(
    {
        "reserving_active_workloads": lambda view: view.reserving,
        "admitted_active_workloads": lambda view: view.admitted,
    }
)
"""Gauges of workloads that hold quota."""


@dataclass(frozen=True, slots=True)
class WorkloadMetrics:
    """Counters and histograms of one workload."""

    metrics: Metrics
    cluster_queue: Mapping[str, str]
    """Labels of what is counted for its ClusterQueue."""
    local_queue: Mapping[str, str]
    exemplar: dict[str, str] | None = None
    """What a duration is an example of: the labels that lead to its trace."""

    @classmethod
    def of(cls, metrics: Metrics, workload: Workload, queue: str = "", trace_id: str = "") -> Self:
        """Return those of a workload; `queue` is its ClusterQueue if its status does not say.

        `trace_id` is its trace, if that is recorded.
        """
        reference, admission = workload.spec.priority_class_ref, workload.status.admission
        if not queue and admission is not None:
            queue = admission.cluster_queue
        named = reference.name if reference is not None else ""
        return cls(
            metrics,
            {"priority_class": named, "cluster_queue": queue},
            {
                "priority_class": named,
                "name": workload.spec.queue_name,
                "namespace": workload.metadata.namespace,
            },
            {"trace_id": trace_id} if trace_id else None,
        )

    def count(self, name: str, **more: str) -> None:
        """Add one to a counter."""
        for series in self._both(name, **more):
            series.inc()

    def count_once(self, name: str, **more: str) -> None:
        """Add one to a counter that exists for ClusterQueues only."""
        getattr(self.metrics, name).labels(**self.cluster_queue, **more).inc()

    def observe(self, name: str, seconds: float) -> None:
        """Add a duration to a histogram; one that is negative, by differing clocks, counts as 0."""
        lasted_s = max(seconds, 0.0)
        for series in self._both(name):
            series.observe(lasted_s, self.exemplar)

    def _both(self, name: str, **more: str) -> tuple[Series, Series]:
        """Return the series of a metric for its ClusterQueue and for its LocalQueue."""
        return (
            getattr(self.metrics, name).labels(**self.cluster_queue, **more),
            getattr(self.metrics, f"local_queue_{name}").labels(**self.local_queue, **more),
        )


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """Gauges of queues."""

    metrics: Metrics

    def measure(self, name: QueueName, view: QueueView) -> None:
        """Set the gauges of a ClusterQueue."""
        self._measure("", {"cluster_queue": str(name)}, view)
        self._measure_holders("", {"cluster_queue": str(name)}, view)
        stands = "active" if view.active.status else "pending"
        if view.active.reason == "Terminating":
            stands = "terminating"
        for status in ("pending", "active", "terminating"):
            self.metrics.cluster_queue_status.labels(cluster_queue=name, status=status).set(
                float(status == stands)
            )

    def measure_local(self, key: Key, view: QueueView, *, leads_on: bool) -> None:
        """Set the gauges of a LocalQueue; `leads_on` says whether its ClusterQueue is there.

        Without one nothing can hold quota, and there is no series for it.
        """
        labels = local_labels(key)
        self._measure("local_queue_", labels, view)
        if leads_on:
            self._measure_holders("local_queue_", labels, view)
        else:
            for name in HOLDERS:
                self._family(f"local_queue_{name}").replace_those(labels, {})
        for active in ("True", "False", "Unknown"):
            self.metrics.local_queue_status.labels(**labels, active=active).set(
                float(active == str(view.active.status))
            )

    def _measure(self, prefix: str, labels: dict[str, str], view: QueueView) -> None:
        pending = self._family(f"{prefix}pending_workloads")
        pending.labels(**labels, status="active").set(view.pending_active)
        pending.labels(**labels, status="inadmissible").set(view.pending_inadmissible)

    def _measure_holders(self, prefix: str, labels: dict[str, str], view: QueueView) -> None:
        for name, count in HOLDERS.items():
            self._family(prefix + name).labels(**labels).set(count(view))

    def _family(self, name: str) -> Family:
        family: Family = getattr(self.metrics, name)
        return family


def local_labels(key: Key) -> dict[str, str]:
    """Return the labels that name a LocalQueue."""
    namespace, _, name = key.partition("/")
    return {"name": name, "namespace": namespace}
