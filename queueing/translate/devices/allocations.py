"""What claims were given in the end: which still hold devices, and what that counts as."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.translate.devices.catalog import Catalog
from queueing.translate.devices.charges import device_charge
from queueing.translate.devices.index import Device, DeviceName
from queueing.translate.devices.names import FLAVOR, INJECT_RESOURCE, POD_SET, WORKLOAD_UID
from queueing.translate.devices.requests import Way
from queueing.translate.wire import devices as wire
from queueing_api.quantity import NANO_PER_UNIT, QuantityError, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One device, or a part of a shared one, that a claim holds."""

    device: DeviceName
    claim: str
    """`namespace/name`."""
    request: str
    users: tuple[str, ...] = ()
    """Pods that may use it."""
    workload: str = ""
    """Uid of the Workload it was claimed for; empty for claims that are not ours."""
    pod_set: str = ""
    flavor: str = ""
    resource: str = ""
    """What the workload asked for by this claim."""
    consumed: Mapping[str, int] | None = None
    """Billionths taken of a shared device's capacities, by name."""
    admin: bool = False


def holdings(claims: Iterable[wire.ResourceClaim]) -> tuple[Holding, ...]:
    """Return what claims hold, in the order of the claims' and devices' names."""
    found = [
        _holding(claim, one)
        for claim in claims
        if claim.status.allocation is not None
        for one in claim.status.allocation.devices.results
    ]
    return tuple(sorted(found, key=lambda one: (one.claim, one.request, one.device)))


def _holding(claim: wire.ResourceClaim, found: wire.AllocatedDevice) -> Holding:
    labels = claim.metadata.labels
    return Holding(
        device=DeviceName(found.driver, found.pool, found.device),
        claim=claim.metadata.key,
        request=found.request,
        users=tuple(one.name for one in claim.status.reserved_for),
        workload=labels.get(WORKLOAD_UID, ""),
        pod_set=labels.get(POD_SET, ""),
        flavor=labels.get(FLAVOR, ""),
        resource=claim.metadata.annotations.get(INJECT_RESOURCE, ""),
        consumed={
            _short(name, found.driver): _nano(q) for name, q in found.consumed_capacity.items()
        }
        or None,
        admin=found.admin_access,
    )


def _short(name: str, driver: str) -> str:
    return name.removeprefix(f"{driver}/")


def _nano(quantity: str | float) -> int:
    try:
        return parse(quantity).nano
    except QuantityError:
        return 0


def still_held(claims: Iterable[wire.ResourceClaim], workload_uid: str) -> tuple[str, ...]:
    """Return a Workload's claims that hold devices: its quota stays charged until none does."""
    return tuple(
        sorted(
            claim.metadata.key
            for claim in claims
            if claim.metadata.labels.get(WORKLOAD_UID) == workload_uid
            and claim.status.allocation is not None
        )
    )


def charged(
    held: Iterable[Holding], devices: Mapping[DeviceName, Device], catalog: Catalog
) -> dict[tuple[str, str], int] | None:
    """Return what holdings of one Workload count as, by pod set and quota resource.

    None while a device is not known, so that nothing is lowered on missing data. A caller that
    trues a charge up takes it only where it is lower, and only once every pod has its claim.
    """
    total: dict[tuple[str, str], int] = {}
    for one in held:
        device = devices.get(one.device)
        item = catalog.served.get((one.flavor, one.resource))
        if device is None or item is None:
            return None
        if one.admin:
            continue
        way = Way(device_class=item.request.device_class_name, capacity=one.consumed or {})
        amount = device_charge(item.charge, way, (device,))
        if item.charge.type == "Capacity" and one.consumed and item.charge.name in one.consumed:
            amount = max(1, -(-one.consumed[item.charge.name] // NANO_PER_UNIT))
        key = (one.pod_set, item.charge.quota_resource or item.name)
        total[key] = total.get(key, 0) + amount
    return total
