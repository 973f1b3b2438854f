"""The devices that ResourceClaims were allocated, one by one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.devices.rules.index import DeviceName
from queueing.devices.wire import objects as wire
from queueing.devices.wire.given import consumed_of
from queueing.devices.wire.names import FLAVOR, INJECT_RESOURCE, POD_SET, WORKLOAD, WORKLOAD_UID


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHolding:
    """One device, or a part of a shared one, that a claim holds."""

    device: DeviceName
    claim: str
    """`namespace/name`."""
    request: str
    users: tuple[str, ...] = ()
    """Pods that may use it."""
    workload: str = ""
    """Uid of the Workload it was claimed for; empty for claims that are not ours."""
    work: str = ""
    """`namespace/name` of that Workload, as far as a label tells it."""
    pod_set: str = ""
    flavor: str = ""
    resource: str = ""
    """What the workload asked for by this claim."""
    consumed: Mapping[str, int] | None = None
    """Billionths taken of a shared device's capacities, by name."""
    admin: bool = False


def holdings(claims: Iterable[wire.ResourceClaim]) -> tuple[DeviceHolding, ...]:
    """Return what claims hold, in the order of the claims' and devices' names."""
    found = [
        _holding(claim, one)
        for claim in claims
        if claim.status.allocation is not None
        for one in claim.status.allocation.devices.results
    ]
    return tuple(sorted(found, key=lambda one: (one.claim, one.request, one.device)))


def _holding(claim: wire.ResourceClaim, found: wire.AllocatedDevice) -> DeviceHolding:
    labels = claim.metadata.labels
    return DeviceHolding(
        device=DeviceName(found.driver, found.pool, found.device),
        claim=claim.metadata.key,
        request=found.request,
        users=tuple(one.name for one in claim.status.reserved_for),
        workload=labels.get(WORKLOAD_UID, ""),
        work=f"{claim.metadata.namespace}/{labels[WORKLOAD]}" if WORKLOAD in labels else "",
        pod_set=labels.get(POD_SET, ""),
        flavor=labels.get(FLAVOR, ""),
        resource=claim.metadata.annotations.get(INJECT_RESOURCE, ""),
        consumed=consumed_of(found) or None,
        admin=found.admin_access,
    )
