"""ResourceSlices and nodes → devices: the newest complete generation of each pool."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from queueing.cel.values import Amount, RuntimeProblemError, amount, version
from queueing.core.selectors import Taint, meets
from queueing.devices.rules.selector import View
from queueing.devices.wire import objects as wire
from queueing.translate.selectors import requirement
from queueing.translate.wire.pods import NodeSelector
from queueing_api.quantity import QuantityError, parse


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
class Device:
    """One device of a complete pool."""

    name: DeviceName
    node: str = ""
    """The only node that reaches it."""
    nodes: NodeSelector | None = None
    """The nodes that reach it. Without either, all nodes do."""
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
class Index:
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
) -> Index:
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
    return Index(
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


def reaches(selector: NodeSelector, name: str, labels: Mapping[str, str]) -> bool:
    """Say whether a node selector chooses a node; its terms are alternatives."""
    fields = {"metadata.name": name}
    return any(
        (term.match_expressions or term.match_fields)
        and all(meets(requirement(one), labels) for one in term.match_expressions)
        and all(meets(requirement(one), fields) for one in term.match_fields)
        for term in selector.node_selector_terms
    )


def slice_of(found: wire.ResourceSlice) -> Slice:
    """Read a ResourceSlice."""
    spec = found.spec
    pool = (spec.driver, spec.pool.name)
    return Slice(
        name=found.metadata.name,
        pool=pool,
        generation=spec.pool.generation,
        expected=spec.pool.resource_slice_count,
        devices=tuple(_device(one, spec) for one in spec.devices),
        counters={
            one.name: {name: _nano(counter.value) for name, counter in one.counters.items()}
            for one in spec.shared_counters
        },
    )


def _device(found: wire.Device, spec: wire.ResourceSliceSpec) -> Device:
    broken = ""
    attributes: dict[str, dict[str, Any]] = {}
    flat: dict[str, object] = {}
    for name, attribute in sorted(found.attributes.items()):
        domain, short = qualified(name, spec.driver)
        try:
            value = _value(attribute)
        except RuntimeProblemError as error:
            broken = f"attribute {name}: {error}"
            continue
        attributes.setdefault(domain, {})[short] = flat[f"{domain}/{short}"] = value
    capacity: dict[str, dict[str, Any]] = {}
    measured: dict[str, Capacity] = {}
    for name, one in sorted(found.capacity.items()):
        domain, short = qualified(name, spec.driver)
        capacity.setdefault(domain, {})[short] = _amount(one.value)
        measured[short if domain == spec.driver else f"{domain}/{short}"] = _capacity(one)
    shared = found.allow_multiple_allocations
    own = spec.per_device_node_selection
    view = View(driver=spec.driver, attributes=attributes, capacity=capacity, shared=shared)
    return Device(
        name=DeviceName(spec.driver, spec.pool.name, found.name),
        node=found.node_name if own else spec.node_name,
        nodes=found.node_selector if own else spec.node_selector,
        variables=view.variables(),
        attributes=flat,
        capacity=measured,
        counters=tuple(
            (use.counter_set, name, _nano(counter.value))
            for use in found.consumes_counters
            for name, counter in sorted(use.counters.items())
        ),
        taints=tuple(
            Taint(key=one.key, value=one.value, effect=one.effect) for one in found.taints
        ),
        shared=shared,
        broken=broken,
    )


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Split a name into its domain and its own part; without a domain it is the driver's."""
    domain, slash, short = name.partition("/")
    return (domain, short) if slash else (driver, name)


def _value(attribute: wire.DeviceAttribute) -> object:
    if attribute.version is not None:
        return version(attribute.version)
    for value in (attribute.string, attribute.bool_, attribute.int_):
        if value is not None:
            return value
    raise RuntimeProblemError("unsupported attribute value")


def _capacity(found: wire.DeviceCapacity) -> Capacity:
    value, policy = _nano(found.value), found.request_policy
    if policy is None:
        return Capacity(value=value)
    span = policy.valid_range or wire.RequestPolicyRange()
    return Capacity(
        value=value,
        default=value if policy.default is None else _nano(policy.default),
        valid=tuple(sorted(map(_nano, policy.valid_values))),
        least=None if span.min is None else _nano(span.min),
        most=None if span.max is None else _nano(span.max),
        step=None if span.step is None else _nano(span.step),
    )


def _amount(quantity: str | float) -> Amount:
    """Return the same as selectors compute with it."""
    try:
        return amount(str(quantity))
    except RuntimeProblemError:
        return Amount(0)


def _nano(quantity: str | float) -> int:
    """Return billionths; what the server let in although it is no quantity counts as nothing."""
    try:
        return parse(quantity).nano
    except QuantityError:
        return 0
