"""How one device of a node is asked for, and for which resources a claim counts already."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.core.names import FlavorName, ResourceName
from queueing.devices.rules.index import DeviceName
from queueing.devices.rules.requests import CONSUMERS_MAX, Way
from queueing.devices.wire.allocations import holdings
from queueing.devices.wire.asks import ContainerDevices, ResourceRequest
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.names import BY_SCHEDULER, INJECT_RESOURCE, POD_SET, label_value
from queueing.devices.wire.objects import FlavoredResource, ResourceClaim
from queueing.devices.wire.terms import claim_for, claims_by_scheduler, is_plugins
from queueing.translate.wire.workloads import Workload

Served = tuple[FlavorName, ResourceName]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerms:
    """How a flavor serves one of a resource, and how many pods one device serves at most."""

    way: Way
    pods: int = 1

    @property
    def is_shared(self) -> bool:
        """Whether all pods of a pod set use one claim, so that their number tells of no device."""
        return self.pods > 1


def terms_on_nodes(catalog: DeviceCatalog) -> dict[Served, NodeTerms]:
    """Return how flavors serve resources by devices; those of a device plugin are left out.

    Empty in Kueue mode: Kueue places pods by what nodes say is allocatable, and by that alone.
    """
    return {
        (FlavorName(flavor), ResourceName(resource)): _terms(one)
        for (flavor, resource), one in catalog.served.items()
        if not is_plugins(one) and not catalog.as_kueue
    }


def _terms(served: FlavoredResource) -> NodeTerms:
    one = (ContainerDevices(request="one", count=1),)
    ask = ResourceRequest(resource=served.name, parts=one, slot="any")
    way = claim_for(ask, served).requests[0].ways[0]
    return NodeTerms(way=way, pods=CONSUMERS_MAX if served.sharing == "PerPodSet" else 1)


def resources_of_scheduler(claim: ResourceClaim, catalog: DeviceCatalog) -> frozenset[str]:
    """Return the resources for which the scheduler may have made a claim, by their class."""
    ways = [way for one in claim_of(claim.spec).requests for way in one.ways]
    classes = {one.device_class for one in ways}
    return frozenset(
        resource
        for (_, resource), one in catalog.served.items()
        if claims_by_scheduler(one) and one.request.device_class_name in classes
    )


def resources_of_admission(claim: ResourceClaim, workload: Workload | None) -> frozenset[str]:
    """Return the resource for which an admission made a claim, if it has places for the pods."""
    admission = None if workload is None else workload.status.admission
    if admission is None:
        return frozenset()
    pod_set = claim.metadata.labels.get(POD_SET, "")
    is_placed = any(
        one.topology_assignment is not None and label_value(one.name) == pod_set
        for one in admission.pod_set_assignments
    )
    told = claim.metadata.annotations.get(INJECT_RESOURCE, "")
    return frozenset({told}) if is_placed else frozenset()


def is_by_scheduler(claim: ResourceClaim) -> bool:
    """Say whether the scheduler made a claim, for a pod that asks for an extended resource."""
    return BY_SCHEDULER in claim.metadata.annotations


def held_by(claim: ResourceClaim) -> Mapping[DeviceName, Mapping[str, int]]:
    """Return the devices that a claim holds, and what it takes of shared ones."""
    found: dict[DeviceName, dict[str, int]] = {}
    for one in holdings([claim]):
        if not one.admin:
            sums = found.setdefault(one.device, {})
            for name, size in (one.consumed or {}).items():
                sums[name] = sums.get(name, 0) + size
    return found
