"""Contradictions between a workload's status and its spec or its queue, told in messages.

They change no charge: an admission in a status is charged as it is written.
"""

from collections.abc import Iterator, Mapping

from queueing.core.facts import Admission, ClusterQueueFact, PodSetAssignment, WorkloadFact
from queueing.core.names import FlavorName, ResourceName

Offered = Mapping[ResourceName, frozenset[FlavorName]]
"""The flavors of each resource that a ClusterQueue covers."""


def offered_by(queue: ClusterQueueFact) -> Offered:
    """Return the flavors of each resource for which a ClusterQueue has quota."""
    return {
        resource: frozenset(one.flavor for one in group.flavors)
        for group in queue.groups
        for resource in group.covered
    }


def contradictions(workload: WorkloadFact, admission: Admission, offered: Offered) -> Iterator[str]:
    """Yield a sentence for each part of an admission that contradicts the spec or the queue."""
    asked = {one.name: one.count for one in workload.pod_sets}
    held = {one.name for one in admission.pod_sets}
    for name in asked:
        if name not in held:
            yield f"status.admission: pod set {name} is not named, so nothing is held for it"
    for one in admission.pod_sets:
        if one.name not in asked:
            yield (
                f"status.admission[{one.name}]: spec.podSets has no {one.name},"
                " so nothing of what it holds can be reclaimed"
            )
        elif one.count > asked[one.name] and not workload.slice_of:  # a slice may shrink
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
    """Yield a sentence for each amount that is no multiple of the number of pods.

    An amount smaller than the number of pods is fine: all pods share it, for example one device.
    """
    for resource, amount in sorted(one.usage.items()):
        if 0 < one.count <= amount and amount % one.count:
            yield (
                f"status.admission[{one.name}].resourceUsage[{resource}] is not a multiple of"
                f" {one.count}, so reclaimed pods give back less than they hold"
            )
