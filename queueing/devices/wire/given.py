"""How much quota one allocated claim is charged, by the devices that it holds."""

from collections.abc import Mapping

from queueing.devices.rules.index import Device, DeviceName
from queueing.devices.rules.requests import Way
from queueing.devices.wire import objects as wire
from queueing.devices.wire.catalog import ClassRule, DeviceCatalog
from queueing.devices.wire.charges import device_charge, rule_charge
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.names import FLAVOR, INJECT_RESOURCE, WORKLOAD_UID
from queueing_api.quantity import NANO_PER_UNIT, QuantityError, parse

Amounts = Mapping[str, int]
"""By quota resource."""


def amounts_of(
    claim: wire.ResourceClaim, devices: Mapping[DeviceName, Device], catalog: DeviceCatalog
) -> Amounts | None:
    """Return what a claim counts as, by every resource that it might have counted as.

    None while it is not allocated, and while a device or the rule for it is not known.
    """
    if claim.status.allocation is None:
        return None
    if WORKLOAD_UID in claim.metadata.labels:
        return _by_flavor(claim, claim.status.allocation, devices, catalog)
    return _by_class(claim, claim.status.allocation, devices, catalog)


def _by_flavor(
    claim: wire.ResourceClaim,
    allocation: wire.Allocation,
    devices: Mapping[DeviceName, Device],
    catalog: DeviceCatalog,
) -> Amounts | None:
    """Count a claim that was made for an admission as the DeviceFlavor says."""
    meta = claim.metadata
    key = (meta.labels.get(FLAVOR, ""), meta.annotations.get(INJECT_RESOURCE, ""))
    served = catalog.served.get(key)
    if served is None:
        return None
    total = 0
    for one in _charged(allocation):
        consumed = consumed_of(one)
        taken = consumed.get(served.charge.name)
        device = devices.get(_name(one))
        if served.charge.type == "Devices":
            total += 1
        elif served.charge.type == "Capacity" and taken is not None:
            total += max(1, -(-taken // NANO_PER_UNIT))
        elif device is None:
            return None
        else:
            total += device_charge(served.charge, Way(device_class=""), (device,))
    return {served.charge.quota_resource or served.name: total}


def _by_class(
    claim: wire.ResourceClaim,
    allocation: wire.Allocation,
    devices: Mapping[DeviceName, Device],
    catalog: DeviceCatalog,
) -> Amounts | None:
    """Count a claim that a user wrote by the classes of the requests that were granted."""
    rules = {
        f"{request.name}/{way.name}" if way.name else request.name: rule
        for request in claim_of(claim.spec).requests
        for way in request.ways
        if (rule := catalog.rules.get(way.device_class)) is not None
    }
    total = dict.fromkeys(sorted({one.quota for one in rules.values()}), 0)
    for one in _charged(allocation):
        rule = rules.get(one.request)
        size = None if rule is None else _by_rule(rule, one, devices)
        if rule is None or size is None:
            return None
        total[rule.quota] += size
    return total or None


def _by_rule(
    rule: ClassRule, one: wire.AllocatedDevice, devices: Mapping[DeviceName, Device]
) -> int | None:
    if not rule.sources:
        return 1
    device = devices.get(_name(one))
    if device is None:
        return None
    return rule_charge(rule, Way(device_class="", capacity=consumed_of(one)), (device,))


def _charged(allocation: wire.Allocation) -> list[wire.AllocatedDevice]:
    return [one for one in allocation.devices.results if not one.admin_access]


def _name(one: wire.AllocatedDevice) -> DeviceName:
    return DeviceName(one.driver, one.pool, one.device)


def consumed_of(one: wire.AllocatedDevice) -> dict[str, int]:
    """Return billionths taken of a shared device, by the names of its capacities."""
    return {
        name.removeprefix(f"{one.driver}/"): _nano(size)
        for name, size in one.consumed_capacity.items()
    }


def _nano(quantity: str | float) -> int:
    try:
        return parse(quantity).nano
    except QuantityError:
        return 0
