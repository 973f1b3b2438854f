"""Gauges of Workloads (numbers by queue and state, pending requests); durations of evictions."""

from collections import Counter
from collections.abc import Mapping

from queueing.controller.stores.objects import Objects
from queueing.controller.stores.workload_counts import Where, WorkloadCounts
from queueing.core.admission_fair_sharing import whole_units
from queueing.core.names import name_of, namespace_of
from queueing.observe.metrics import Metrics


def observe_releases(metrics: Metrics, counts: WorkloadCounts) -> None:
    """Observe how long each eviction took that released quota since the last call."""
    latency = metrics.workload_eviction_latency_seconds
    for one in counts.take_releases():
        latency.labels(cluster_queue=one.cluster_queue, reason=one.reason).observe(one.took_s)


def measure(metrics: Metrics, objects: Objects, *, anew: bool) -> None:
    """Set the gauges that count Workloads, if a count has changed since the last call.

    With `anew` queues may have changed, and all are set.
    """
    counts = objects.workload_counts
    if not counts.changed and not anew:
        return
    counts.changed = False
    _measure_finished(metrics, objects)
    _measure_waiting(metrics, objects)


def _measure_finished(metrics: Metrics, objects: Objects) -> None:
    finished = Counter[tuple[str, ...]]({(name,): 0 for name in objects.cluster_queues})
    by_local_queue = Counter[tuple[str, ...]](
        {(name_of(key), namespace_of(key)): 0 for key in objects.local_queues}
    )
    for where, count in objects.workload_counts.finished.items():
        finished[_queue_of(objects, where),] += count
        by_local_queue[_local_queue_of(where)] += count
    metrics.finished_workloads.replace_all(_known(finished))
    metrics.local_queue_finished_workloads.replace_all(_known(by_local_queue))


def _measure_waiting(metrics: Metrics, objects: Objects) -> None:
    waiting: Counter[tuple[str, ...]] = Counter()
    by_local_queue: Counter[tuple[str, ...]] = Counter()
    for stand, count in objects.workload_counts.unadmitted.items():
        why = (stand.reason, stand.cause)
        waiting[_queue_of(objects, stand.where), *why] += count
        by_local_queue[*_local_queue_of(stand.where), *why] += count
    asked: dict[tuple[str, ...], float] = {
        (name, resource): 0.0
        for name, found in objects.cluster_queues.items()
        for group in found.spec.resource_groups
        for resource in group.covered_resources
    }
    for (where, resource), amount in objects.workload_counts.asked.items():
        key = (_queue_of(objects, where), str(resource))
        asked[key] = asked.get(key, 0.0) + whole_units(resource, amount)
    metrics.unadmitted_workloads.replace_all(_known(waiting))
    metrics.local_queue_unadmitted_workloads.replace_all(_known(by_local_queue))
    metrics.cluster_queue_resource_pending.replace_all(_known(asked))


def _queue_of(objects: Objects, where: Where) -> str:
    """Return the ClusterQueue that a Workload counts for: of its admission or its LocalQueue."""
    if where.cluster_queue or where.local_queue is None:
        return where.cluster_queue
    found = objects.local_queues.get(where.local_queue)
    return found.spec.cluster_queue if found is not None else ""


def _local_queue_of(where: Where) -> tuple[str, str]:
    """Return name and namespace of the LocalQueue; both empty without one."""
    if where.local_queue is None:
        return "", ""
    return name_of(where.local_queue), namespace_of(where.local_queue)


def _known(counts: Mapping[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """Return the counts without those of no known queue, whose name is empty."""
    return {key: value for key, value in counts.items() if key[0]}
