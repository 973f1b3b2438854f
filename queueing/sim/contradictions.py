"""What the statuses of Workloads say that their surroundings do not bear out.

Nothing is left out of the count for it: what a status holds is charged where it says, if there is
such a queue. A plan only says what looks wrong.
"""

from collections.abc import Iterable, Iterator, Mapping

from queueing.core.facts import Admission, ClusterQueueFact, WorkloadFact
from queueing.core.names import QueueName, ResourceName

Queues = Mapping[QueueName, ClusterQueueFact]


def contradictions(facts: Iterable[object]) -> list[str]:
    """Return a sentence for everything that a workload holds and that cannot be so."""
    known = list(facts)
    queues = {one.name: one for one in known if isinstance(one, ClusterQueueFact)}
    return [
        f"Workload {one.key}: {what}"
        for one in known
        if isinstance(one, WorkloadFact) and one.admission is not None and one.holds_quota
        for what in _of(one, one.admission, queues)
    ]


def _of(workload: WorkloadFact, admission: Admission, queues: Queues) -> Iterator[str]:
    if workload.misconfigured:
        yield workload.misconfigured
    queue = queues.get(admission.cluster_queue)
    if queue is None:
        yield (
            f"status.admission.clusterQueue: {admission.cluster_queue} is not given,"
            " so what the workload holds counts nowhere"
        )
        return
    offered: dict[ResourceName, frozenset[str]] = {
        resource: frozenset(one.flavor for one in group.flavors)
        for group in queue.groups
        for resource in group.covered
    }
    for one in admission.pod_sets:
        for resource, flavor in sorted(one.flavors.items()):
            if flavor not in offered.get(resource, frozenset()):
                yield (
                    f"status.admission[{one.name}].flavors[{resource}]: ClusterQueue {queue.name}"
                    f" has no {resource} of flavor {flavor}, so all of it counts as borrowed"
                )
