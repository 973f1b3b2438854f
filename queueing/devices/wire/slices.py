"""ResourceSlices → slices of pools, with their devices as selectors and requests see them."""

from typing import Any

from queueing.cel.values import Amount, RuntimeProblemError, amount, version
from queueing.core.selectors import Taint
from queueing.devices.rules.index import Capacity, Device, DeviceName, NodeTerm, Slice
from queueing.devices.rules.selector import DeviceView
from queueing.devices.wire import objects as wire
from queueing.translate.selectors import requirement
from queueing.translate.wire.pods import NodeSelector
from queueing_api.quantity import QuantityError, parse


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
    view = DeviceView(driver=spec.driver, attributes=attributes, capacity=capacity, shared=shared)
    return Device(
        name=DeviceName(spec.driver, spec.pool.name, found.name),
        node=found.node_name if own else spec.node_name,
        nodes=_terms(found.node_selector if own else spec.node_selector),
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


def _terms(found: NodeSelector | None) -> tuple[NodeTerm, ...] | None:
    if found is None:
        return None
    return tuple(
        NodeTerm(
            labels=tuple(map(requirement, one.match_expressions)),
            fields=tuple(map(requirement, one.match_fields)),
        )
        for one in found.node_selector_terms
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
