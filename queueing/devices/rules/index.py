"""Slices of pools and nodes → devices: the newest complete generation of each pool."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from queueing.core.selectors import Requirement, Taint, meets


class DeviceName(NamedTuple):
    """What an allocation calls a device."""

    driver: str
    pool: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """A capacity and how much of it a request takes; amounts in billionths of a unit."""

    value: int
    default: int | None = None
    valid: tuple[int, ...] = ()
    least: int | None = None
    step: int | None = None
    most: int | None = None

    def consumed(self, asked: int | None) -> int | None:
        """Return what a request takes of a shared device; None when it may not take that much.

        Without a policy all of it is taken, without an amount the default. Others are raised to
        the next valid value, or to the minimum and the next step above it.
        """
        if self.default is None:
            return self.value if asked is None or asked <= self.value else None
        if asked is None:
            return self.default
        if self.valid:
            return next((one for one in self.valid if one >= asked), None)
        taken = max(asked, self.least or 0)
        if self.step:
            over = taken - (self.least or 0)
            taken = (self.least or 0) + -(-over // self.step) * self.step
        most = self.value if self.most is None else self.most
        return taken if taken <= most else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerm:
    """One alternative of a node selector: what a node's labels and fields must meet."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device of a complete pool."""

    name: DeviceName
    node: str = ""
    """The only node that reaches it."""
    nodes: tuple[NodeTerm, ...] | None = None
    """The nodes that reach it, as alternatives. Without either, all nodes do."""
    variables: Mapping[str, Any] = field(compare=False)
    """The device as selectors see it."""
    attributes: Mapping[str, object] = field(compare=False)
    """Values by full name, domain included, for constraints."""
    capacity: Mapping[str, Capacity] = field(default_factory=dict, compare=False)
    """By name, those of the driver's own domain without it."""
    counters: tuple[tuple[str, str, int], ...] = ()
    """What it takes: set, counter, billionths."""
    taints: tuple[Taint, ...] = ()
    shared: bool = False
    """Whether it may be given to several requests at once."""
    broken: str = ""
    """Why the scheduler cannot look at it, when an attribute is no value."""


Pool = tuple[str, str]
"""Driver and name of a pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A ResourceSlice, read once."""

    name: str
    pool: Pool
    generation: int
    expected: int
    devices: tuple[Device, ...]
    counters: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceIndex:
    """All devices that can be given away, by pool, and the counters that they share."""

    devices: tuple[Device, ...] = ()
    counters: Mapping[Pool, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    incomplete: tuple[Pool, ...] = ()
    """Pools that have fewer slices than they say, so that nothing of them counts."""
    nodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels of the nodes."""

    def on(self, labels: Mapping[str, str]) -> tuple[Device, ...]:
        """Return the devices that nodes with these labels reach, in the order of their names."""
        matching = {
            name: found
            for name, found in self.nodes.items()
            if all(found.get(key) == value for key, value in labels.items())
        }
        if not labels:
            return self.devices
        return tuple(one for one in self.devices if _is_reached(one, matching))


def index_of(
    slices: Iterable[Slice], nodes: Mapping[str, Mapping[str, str]] | None = None
) -> DeviceIndex:
    """Join slices to pools; of each only the newest generation counts, and only when complete."""
    pools: dict[Pool, list[Slice]] = {}
    for one in slices:
        pools.setdefault(one.pool, []).append(one)
    devices: list[Device] = []
    counters: dict[Pool, Mapping[str, Mapping[str, int]]] = {}
    incomplete = []
    for pool in sorted(pools):
        newest = max(one.generation for one in pools[pool])
        parts = [one for one in pools[pool] if one.generation == newest]
        if len(parts) != max(one.expected for one in parts):
            incomplete.append(pool)
            continue
        devices += [device for part in parts for device in part.devices]
        counters[pool] = {name: found for part in parts for name, found in part.counters.items()}
    devices.sort(key=lambda one: _natural(one.name))
    return DeviceIndex(
        devices=tuple(devices),
        counters=counters,
        incomplete=tuple(incomplete),
        nodes=dict(sorted((nodes or {}).items())),
    )


def _natural(name: DeviceName) -> tuple[str, str, int, str]:
    digits = name.device.rpartition("-")[2]
    number = int(digits) if digits.isdecimal() else -1
    return name.driver, name.pool, number, name.device


def _is_reached(device: Device, nodes: Mapping[str, Mapping[str, str]]) -> bool:
    if device.node:
        return device.node in nodes
    if device.nodes is None:
        return True
    return any(reaches(device.nodes, name, labels) for name, labels in nodes.items())


def reaches(terms: Iterable[NodeTerm], name: str, labels: Mapping[str, str]) -> bool:
    """Say whether a node is chosen by one of some alternatives."""
    fields = {"metadata.name": name}
    return any(
        (term.labels or term.fields)
        and all(meets(one, labels) for one in term.labels)
        and all(meets(one, fields) for one in term.fields)
        for term in terms
    )
