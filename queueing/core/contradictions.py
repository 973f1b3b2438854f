"""What the status of a workload says that its spec and its queue do not bear out.

Nothing is left out of the count for it: what a status holds is charged as it stands.
"""

from collections.abc import Iterator, Mapping

from queueing.core.facts import Admission, ClusterQueueFact, PodSetAssignment, WorkloadFact
from queueing.core.names import FlavorName, ResourceName

Offered = Mapping[ResourceName, frozenset[FlavorName]]
"""The flavors of each resource that a ClusterQueue covers."""


def offered_by(queue: ClusterQueueFact) -> Offered:
    """Return what a ClusterQueue has quota of."""
    return {
        resource: frozenset(one.flavor for one in group.flavors)
        for group in queue.groups
        for resource in group.covered
    }


def contradictions(workload: WorkloadFact, admission: Admission, offered: Offered) -> Iterator[str]:
    """Give a sentence for each part of an admission that spec or queue do not bear out."""
    asked = {one.name: one.count for one in workload.pod_sets}
    held = {one.name for one in admission.pod_sets}
    for name in (one for one in asked if one not in held):
        yield f"status.admission: pod set {name} is not named, so nothing is held for it"
    for one in admission.pod_sets:
        if one.name not in asked:
            yield (
                f"status.admission[{one.name}]: spec.podSets has no {one.name},"
                " so nothing of what it holds can be reclaimed"
            )
        elif one.count > asked[one.name]:
            yield (
                f"status.admission[{one.name}].count: {one.count} pods hold quota,"
                f" and the spec has {asked[one.name]}"
            )
        for resource, flavor in sorted(one.flavors.items()):
            if flavor not in offered.get(resource, frozenset()):
                yield (
                    f"status.admission[{one.name}].flavors[{resource}]: ClusterQueue"
                    f" {admission.cluster_queue} has no {resource} of flavor {flavor},"
                    " so all of it is beyond its quota"
                )


def indivisible(one: PodSetAssignment) -> Iterator[str]:
    """Give a sentence for each amount that the pods cannot hold equal shares of.

    Fewer units than pods are shared by all of them: say one device.
    """
    for resource, amount in sorted(one.usage.items()):
        if 0 < one.count <= amount and amount % one.count:
            yield (
                f"status.admission[{one.name}].resourceUsage[{resource}] is not a multiple of"
                f" {one.count}, so reclaimed pods give back less than they hold"
            )
