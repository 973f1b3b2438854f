"""The devices of a flavor and their holders, from documents; `queueing devices` shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from queueing.cel.values import Amount, Version
from queueing.devices.rules.index import Device, DeviceIndex, index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.allocations import DeviceHolding, holdings
from queueing.devices.wire.slices import slice_of
from queueing.sim.documents import Document
from queueing.translate.inbound.manifests import ManifestError, read
from queueing.translate.wire.meta import Wire
from queueing.translate.wire.queues import ResourceFlavor
from queueing_api.quantity import Form, ParsedQuantity

KINDS = ("DeviceFlavor", "ResourceFlavor", "ResourceSlice", "ResourceClaim", "Node")
WITHOUT_FLAVOR = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """One device of a flavor, and the claims that hold it."""

    flavor: str
    device: Device
    holders: tuple[DeviceHolding, ...]
    blocked: bool
    """Whether it is free, but shared counters that it needs are used up by other devices."""

    @property
    def state(self) -> str:
        """`Free`, `Held`, `Shared` or `Blocked`."""
        if self.holders:
            return "Shared" if self.device.shared else "Held"
        return "Blocked" if self.blocked else "Free"

    def as_json(self) -> dict[str, Any]:
        """Return the device as JSON values."""
        return {
            "flavor": self.flavor,
            "node": self.device.node,
            **self.device.name._asdict(),
            "state": self.state,
            "attributes": {name: plain(one) for name, one in self.device.attributes.items()},
            "capacity": {name: amount(one.value) for name, one in self.device.capacity.items()},
            "taints": [f"{one.key}={one.value}:{one.effect}" for one in self.device.taints],
            "holders": [
                {
                    "claim": one.claim,
                    "workload": one.work,
                    "request": one.request,
                    "pods": list(one.users),
                    "consumed": {name: amount(size) for name, size in (one.consumed or {}).items()},
                }
                for one in self.holders
            ],
        }


def standings(documents: Sequence[Document]) -> tuple[list[DeviceStatus], list[str]]:
    """Return every device under each flavor that has it, and what is not counted.

    Flavors are those with a DeviceFlavor, or all where there is none. Raises ManifestError.
    """
    index = index_of(
        map(slice_of, _all(documents, "ResourceSlice", wire.ResourceSlice)),
        {one.metadata.name: one.metadata.labels for one in _all(documents, "Node", wire.Node)},
    )
    held = holdings(_all(documents, "ResourceClaim", wire.ResourceClaim))
    known = {one.metadata.name: one for one in _all(documents, "ResourceFlavor", ResourceFlavor)}
    named = {one.spec.resource_flavor for one in _all(documents, "DeviceFlavor", wire.DeviceFlavor)}
    flavors = {name: one for name, one in sorted(known.items()) if not named or name in named}
    told = [f"ResourceFlavor {name} does not exist" for name in sorted(named - known.keys())]
    told += [
        f"pool {pool} of {driver} has not all of its ResourceSlices; none of it counts"
        for driver, pool in index.incomplete
    ]
    return list(_standings(index, held, flavors)), told


def _standings(
    index: DeviceIndex, held: Iterable[DeviceHolding], flavors: Mapping[str, ResourceFlavor]
) -> Iterable[DeviceStatus]:
    by_device: dict[object, list[DeviceHolding]] = {}
    for one in held:
        by_device.setdefault(one.device, []).append(one)
    taken = _taken(index, by_device)
    placed = set()
    for name, flavor in flavors.items():
        for device in index.on(flavor.spec.node_labels):
            placed.add(device.name)
            yield _standing(name, device, by_device, (index, taken))
    for device in index.devices:
        if device.name not in placed:
            yield _standing(WITHOUT_FLAVOR, device, by_device, (index, taken))


def _taken(index: DeviceIndex, held: Mapping[object, Sequence[DeviceHolding]]) -> dict[Any, int]:
    """Sum what held devices take of shared counters."""
    taken: dict[Any, int] = {}
    for device in index.devices:
        if any(not one.admin for one in held.get(device.name, ())):
            for name, counter, size in device.counters:
                key = (device.name.driver, device.name.pool, name, counter)
                taken[key] = taken.get(key, 0) + size
    return taken


def _standing(
    flavor: str,
    device: Device,
    held: Mapping[object, Sequence[DeviceHolding]],
    known: tuple[DeviceIndex, Mapping[Any, int]],
) -> DeviceStatus:
    index, taken = known
    sets = index.counters.get((device.name.driver, device.name.pool), {})
    place = (device.name.driver, device.name.pool)
    blocked = any(
        taken.get((*place, name, counter), 0) + size > sets.get(name, {}).get(counter, 0)
        for name, counter, size in device.counters
    )
    holders = tuple(held.get(device.name, ()))
    return DeviceStatus(flavor=flavor, device=device, holders=holders, blocked=blocked)


def plain(value: object) -> object:
    """Return an attribute as JSON has it."""
    if isinstance(value, Version):
        return ".".join(map(str, value.numbers)) + "".join(f"-{one}" for one in value.early[:1])
    return amount(value.nano) if isinstance(value, Amount) else value


def amount(nano: int) -> str:
    """Spell billionths as a quantity."""
    return str(ParsedQuantity(nano, Form.BINARY))


def _all(documents: Iterable[Document], kind: str, shape: type[Wire]) -> list[Any]:
    found = []
    for one in documents:
        if one.kind == kind:
            try:
                found.append(read(shape, one.value))
            except ManifestError as error:
                raise one.error([], str(error)) from error
    return found
