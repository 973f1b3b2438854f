"""How one device of a node is asked for, and which of them claims of others hold."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from queueing.core.names import FlavorName, ResourceName
from queueing.devices.rules.index import DeviceName
from queueing.devices.rules.requests import CONSUMERS_MAX, Way
from queueing.devices.wire.allocations import holdings
from queueing.devices.wire.asks import ContainerDevices, ResourceRequest
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.names import BY_SCHEDULER, FLAVOR, label_value
from queueing.devices.wire.objects import FlavoredResource, ResourceClaim
from queueing.devices.wire.terms import claim_for, is_plugins

Served = tuple[FlavorName, ResourceName]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerms:
    """How a flavor serves one of a resource, and how many pods one device serves at most."""

    way: Way
    pods: int = 1


def terms_on_nodes(catalog: DeviceCatalog, flavors: Collection[str]) -> dict[Served, NodeTerms]:
    """Return how flavors serve resources by devices; those of a device plugin are left out.

    Empty in Kueue mode: Kueue places pods by what nodes say is allocatable, and by that alone.
    """
    return {
        (FlavorName(flavor), ResourceName(resource)): _terms(one)
        for (flavor, resource), one in catalog.served.items()
        if flavor in flavors and not is_plugins(one) and not catalog.as_kueue
    }


def _terms(served: FlavoredResource) -> NodeTerms:
    one = (ContainerDevices(request="one", count=1),)
    ask = ResourceRequest(resource=served.name, parts=one, slot="any")
    way = claim_for(ask, served).requests[0].ways[0]
    return NodeTerms(way=way, pods=CONSUMERS_MAX if served.sharing == "PerPodSet" else 1)


def held_by_others(
    claim: ResourceClaim, flavors: Collection[str], *, placed: bool
) -> Mapping[DeviceName, Mapping[str, int]]:
    """Return the devices that a claim holds, and what of shared ones, unless they count anyway.

    They do where the claim was made for an admission to one of these flavors, which place pods by
    a topology; and where the scheduler made it for a pod that is `placed`.
    """
    by_scheduler = placed and BY_SCHEDULER in claim.metadata.annotations
    if by_scheduler or claim.metadata.labels.get(FLAVOR, "") in map(label_value, flavors):
        return {}
    found: dict[DeviceName, dict[str, int]] = {}
    for one in holdings([claim]):
        if not one.admin:
            sums = found.setdefault(one.device, {})
            for name, size in (one.consumed or {}).items():
                sums[name] = sums.get(name, 0) + size
    return found
