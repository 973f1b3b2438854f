"""How many pods with the same request a flavor's devices could serve if all were free.

It follows the scheduler's allocator: devices in order, with shared counters and capacity, and
constraints over the requests that they name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.devices.rules.index import Device, DeviceIndex, DeviceName, Pool
from queueing.devices.rules.requests import DEVICES_MAX, DeviceClaim, DeviceConstraint, Way

PODS_MAX = 4096
"""Pods after which counting on one node ends."""


@dataclass(frozen=True, slots=True)
class MatchedRequest:
    """A request, and the devices that each of its ways matches."""

    name: str
    ways: tuple[tuple[Way, tuple[Device, ...]], ...]


@dataclass(slots=True)
class FreeDevices:
    """What is left of some devices after pods were placed on them."""

    counters: Mapping[Pool, Mapping[str, Mapping[str, int]]]
    taken: set[DeviceName] = field(default_factory=set)
    counted: dict[tuple[Pool, str, str], int] = field(default_factory=dict)
    consumed: dict[tuple[DeviceName, str], int] = field(default_factory=dict)

    def copy(self) -> "FreeDevices":
        """Return a copy for a trial."""
        return FreeDevices(self.counters, set(self.taken), dict(self.counted), dict(self.consumed))

    def take(self, device: Device, way: Way) -> bool:
        """Take a device, or a part of a shared one; False when it is not free."""
        if way.admin:
            return True
        if device.shared:
            return self._share(device, way)
        if device.name in self.taken or not self._has_counters(device):
            return False
        self.taken.add(device.name)
        self._count(device)
        return True

    def _has_counters(self, device: Device) -> bool:
        pool = (device.name.driver, device.name.pool)
        sets = self.counters.get(pool, {})
        return all(
            self.counted.get((pool, name, counter), 0) + size <= sets.get(name, {}).get(counter, 0)
            for name, counter, size in device.counters
        )

    def _count(self, device: Device) -> None:
        pool = (device.name.driver, device.name.pool)
        for name, counter, size in device.counters:
            key = (pool, name, counter)
            self.counted[key] = self.counted.get(key, 0) + size

    def _share(self, device: Device, way: Way) -> bool:
        """Take a part of a shared device; one without capacities can be had without an end."""
        first = device.name not in self.taken
        if first and not self._has_counters(device):
            return False
        parts = {
            name: one.consumed(way.capacity.get(name)) for name, one in device.capacity.items()
        }
        for name, part in parts.items():
            used = self.consumed.get((device.name, name), 0)
            if part is None or used + part > device.capacity[name].value:
                return False
        for name, part in parts.items():
            key = (device.name, name)
            self.consumed[key] = self.consumed.get(key, 0) + (part or 0)
        if first:
            self.taken.add(device.name)
            self._count(device)
        return True


def place(
    room: FreeDevices, wanted: Sequence[MatchedRequest], constraints: Sequence[DeviceConstraint]
) -> FreeDevices | None:
    """Return what is left after one pod got its devices; None when it cannot get them."""
    common = next((one for one in constraints if not one.distinct), None)
    if common is None:
        return _place_each(room, wanted, constraints)
    rest = [one for one in constraints if one is not common]
    for value in _values(wanted, common):
        narrowed = [_narrowed(one, common, value) for one in wanted]
        left = place(room, narrowed, rest)
        if left is not None:
            return left
    return None


def _values(wanted: Iterable[MatchedRequest], common: DeviceConstraint) -> list[object]:
    found: list[object] = []
    for one in wanted:
        if not common.concerns(one.name):
            continue
        for _, devices in one.ways:
            for device in devices:
                value = device.attributes.get(common.attribute)
                if value is not None and value not in found:
                    found.append(value)
    return found


def _narrowed(one: MatchedRequest, common: DeviceConstraint, value: object) -> MatchedRequest:
    if not common.concerns(one.name):
        return one
    ways = (
        (way, tuple(d for d in devices if d.attributes.get(common.attribute) == value))
        for way, devices in one.ways
    )
    return MatchedRequest(one.name, tuple(ways))


def _place_each(
    room: FreeDevices, wanted: Sequence[MatchedRequest], distinct: Sequence[DeviceConstraint]
) -> FreeDevices | None:
    left = room.copy()
    seen: dict[int, set[object]] = {}
    for one in wanted:
        for way, devices in one.ways:
            tried = left.copy()
            noted = {at: set(values) for at, values in seen.items()}
            concerned = [at for at, rule in enumerate(distinct) if rule.concerns(one.name)]
            if _place_one(tried, way, devices, _Differing(distinct, concerned, noted)):
                left, seen = tried, noted
                break
        else:
            return None
    return left


@dataclass(frozen=True, slots=True)
class _Differing:
    """Values of attributes that no second device may have."""

    rules: Sequence[DeviceConstraint]
    concerned: Sequence[int]
    seen: dict[int, set[object]]

    def allows(self, device: Device) -> bool:
        for at in self.concerned:
            value = device.attributes.get(self.rules[at].attribute)
            if value is None or value in self.seen.get(at, ()):
                return False
        return True

    def note(self, device: Device) -> None:
        for at in self.concerned:
            self.seen.setdefault(at, set()).add(device.attributes[self.rules[at].attribute])


def _place_one(
    room: FreeDevices, way: Way, devices: Sequence[Device], differing: _Differing
) -> bool:
    missing = way.count
    if not missing:  # all that match, and at least one
        return 0 < len(devices) <= DEVICES_MAX and all(room.take(one, way) for one in devices)
    for device in devices:
        while missing and differing.allows(device) and room.take(device, way):
            differing.note(device)
            missing -= 1
            if not device.shared:
                break
        if not missing:
            return True
    return False


def pods_served(
    index: DeviceIndex, claim: DeviceClaim, wanted: Sequence[MatchedRequest]
) -> int | None:
    """Return how many pods the matching devices serve, each pod on one node; None: no bound known.

    Devices that several nodes reach set no bound: whether one pod can be served is still told, by
    0 or None.
    """
    everywhere = any(
        not device.node for one in wanted for _, devices in one.ways for device in devices
    )
    total = 0
    for at_node in _by_node(wanted):
        served = _served(index, claim, at_node, 1 if everywhere else PODS_MAX)
        if served and everywhere:
            return None
        total += served
    return total


def _by_node(wanted: Sequence[MatchedRequest]) -> Iterator[list[MatchedRequest]]:
    """Return what each node offers, devices that several nodes reach included."""
    nodes = sorted({device.node for one in wanted for _, devices in one.ways for device in devices})
    for node in nodes:
        yield [
            MatchedRequest(
                one.name,
                tuple(
                    (way, tuple(d for d in devices if not d.node or d.node == node))
                    for way, devices in one.ways
                ),
            )
            for one in wanted
        ]


def _served(
    index: DeviceIndex, claim: DeviceClaim, wanted: Sequence[MatchedRequest], limit: int
) -> int:
    plain = _plainly(claim, wanted)
    if plain is not None:
        return min(plain, limit)
    room, served = FreeDevices(index.counters), 0
    while served < limit:
        left = place(room, wanted, claim.constraints)
        if left is None:
            return served
        room, served = left, served + 1
        if not left.taken:
            return limit
    return served


def _plainly(claim: DeviceClaim, wanted: Sequence[MatchedRequest]) -> int | None:
    """Divide where nothing but the number of devices counts; None where something else does."""
    if len(wanted) != 1 or claim.constraints or len(wanted[0].ways) != 1:
        return None
    way, devices = wanted[0].ways[0]
    if way.admin or not way.count or any(one.shared or one.counters for one in devices):
        return None
    return len(devices) // way.count
