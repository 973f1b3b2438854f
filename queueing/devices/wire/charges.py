"""How much quota devices are charged: one each, or the amount of a counter or a capacity.

Of the devices that could be allocated, the one with the highest charge counts; the allocation may
lower the charge later. Nothing is charged 0 because data are missing.
"""

from collections.abc import Iterable, Mapping

from queueing.devices.rules.index import Device
from queueing.devices.rules.requests import DEVICES_MAX, DeviceClaim, Way
from queueing.devices.rules.selector import MatchAnswer, selector
from queueing.devices.wire import objects as wire
from queueing.devices.wire.catalog import ClassRule, DeviceCatalog, QuotaSource
from queueing_api.quantity import NANO_PER_UNIT

Found = Mapping[tuple[int, int], tuple[Device, ...]]
"""The devices that each way of each request matches, by their positions."""


def device_charge(charge: wire.DeviceCharge, way: Way, devices: Iterable[Device]) -> int:
    """Return the most that one device of a way is charged: whole units, rounded up, at least 1."""
    if charge.type == "Devices":
        return 1
    return _largest(charge.type, charge.name, way, devices)


def _largest(kind: str, name: str, way: Way, devices: Iterable[Device]) -> int:
    amounts = (
        _counter(name, one) if kind == "Counter" else _capacity(name, way, one) for one in devices
    )
    return max(1, -(-max(amounts, default=0) // NANO_PER_UNIT))


def _counter(name: str, device: Device) -> int:
    return sum(size for _, counter, size in device.counters if counter == name)


def _capacity(name: str, way: Way, device: Device) -> int:
    """Return what is taken of a capacity: of a shared device as its policy says, else all of it."""
    found = device.capacity.get(name)
    if found is None:
        return 0
    if not device.shared:
        return found.value
    return found.consumed(way.capacity.get(name)) or found.value


def claim_charges(claim: DeviceClaim, found: Found, catalog: DeviceCatalog) -> dict[str, int]:
    """Return what a claim is charged, by quota resource; of alternative ways the highest of each.

    Classes without a rule are left out.
    """
    total: dict[str, int] = {}
    for position, request in enumerate(claim.requests):
        dearest: dict[str, int] = {}
        for place, way in enumerate(request.ways):
            for quota, size in _way_charges(way, found.get((position, place), ()), catalog):
                dearest[quota] = max(dearest.get(quota, 0), size)
        for quota, size in dearest.items():
            total[quota] = total.get(quota, 0) + size
    return total


def _way_charges(
    way: Way, devices: tuple[Device, ...], catalog: DeviceCatalog
) -> Iterable[tuple[str, int]]:
    rule = catalog.rules.get(way.device_class)
    if rule is None or way.admin:
        return
    # Of a request for all nothing is known but what the rule says; without it, it is refused.
    count = way.count or rule.all_matching or DEVICES_MAX
    yield rule.quota, count * rule_charge(rule, way, devices)


def rule_charge(rule: ClassRule, way: Way, devices: Iterable[Device]) -> int:
    """Return what one device of a class counts as, at most; whole units, at least 1."""
    found = tuple(devices)
    return max(
        (
            _largest(source.type, source.name, way, _of_source(source, found))
            for source in rule.sources
        ),
        default=1,
    )


def _of_source(source: QuotaSource, devices: Iterable[Device]) -> list[Device]:
    return [
        one
        for one in devices
        if one.name.driver == source.driver
        and (
            not source.selector
            or selector(source.selector).judge(one.variables).answer
            in (MatchAnswer.YES, MatchAnswer.UNSUPPORTED)
        )
    ]
