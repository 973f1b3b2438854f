"""Devices: classes, slices, claims and templates of `resource.k8s.io/v1`, and our DeviceFlavor."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from typing import Any

from queueing.translate.wire.meta import Condition, Meta, Quantity, Resources, Wire
from queueing.translate.wire.pods import NodeSelector, Toleration


class CelSelector(Wire, frozen=True):
    """An expression over one device."""

    expression: str = ""


class DeviceSelector(Wire, frozen=True):
    """A choice of devices; `cel` is the only kind."""

    cel: CelSelector = CelSelector()


class OpaqueConfig(Wire, frozen=True):
    """Parameters for a driver, in the driver's own words."""

    driver: str = ""
    parameters: dict[str, Any] = {}


class DeviceClassSpec(Wire, frozen=True):
    """Spec of a DeviceClass."""

    selectors: list[DeviceSelector] = []
    extended_resource_name: str = ""


class DeviceClass(Wire, frozen=True):
    """A named choice of devices."""

    metadata: Meta
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(Wire, frozen=True):
    """One typed value."""

    string: str | None = None
    int_: int | None = None
    bool_: bool | None = None
    version: str | None = None


class RequestPolicyRange(Wire, frozen=True):
    """Amounts that may be taken of a shared capacity."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class RequestPolicy(Wire, frozen=True):
    """How much a request takes of a shared capacity."""

    default: Quantity | None = None
    valid_values: list[Quantity] = []
    valid_range: RequestPolicyRange | None = None


class DeviceCapacity(Wire, frozen=True):
    """A measured property of a device."""

    value: Quantity = "0"
    request_policy: RequestPolicy | None = None


class Counter(Wire, frozen=True):
    """An amount of a counter."""

    value: Quantity = "0"


class CounterConsumption(Wire, frozen=True):
    """What a device takes from a set of shared counters."""

    counter_set: str = ""
    counters: dict[str, Counter] = {}


class CounterSet(Wire, frozen=True):
    """Counters that devices of a pool share."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceTaint(Wire, frozen=True):
    """A mark that keeps off claims which do not tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""


class Device(Wire, frozen=True):
    """One device of a slice."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: list[CounterConsumption] = []
    taints: list[DeviceTaint] = []
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    allow_multiple_allocations: bool = False


class ResourcePool(Wire, frozen=True):
    """The pool that a slice is a part of."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 1


class ResourceSliceSpec(Wire, frozen=True):
    """Spec of a ResourceSlice."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: list[Device] = []
    shared_counters: list[CounterSet] = []


class ResourceSlice(Wire, frozen=True):
    """A part of a driver's pool of devices."""

    metadata: Meta
    spec: ResourceSliceSpec = ResourceSliceSpec()


class CapacityRequirements(Wire, frozen=True):
    """What a request needs of a shared device."""

    requests: Resources = {}


class SubRequest(Wire, frozen=True):
    """One way to satisfy a request; without a name, the only one."""

    name: str = ""
    device_class_name: str = ""
    selectors: list[DeviceSelector] = []
    allocation_mode: str = "ExactCount"
    count: int = 1
    admin_access: bool = False
    tolerations: list[Toleration] = []
    capacity: CapacityRequirements | None = None


class DeviceRequest(Wire, frozen=True):
    """A named request of a claim."""

    name: str = ""
    exactly: SubRequest | None = None
    first_available: list[SubRequest] = []


class DeviceConstraint(Wire, frozen=True):
    """What devices of a claim must have in common, or must not."""

    requests: list[str] = []
    match_attribute: str = ""
    distinct_attribute: str = ""


class DeviceConfig(Wire, frozen=True):
    """Configuration that is handed to a driver."""

    requests: list[str] = []
    opaque: OpaqueConfig = OpaqueConfig()


class DeviceClaim(Wire, frozen=True):
    """The devices that a claim asks for."""

    requests: list[DeviceRequest] = []
    constraints: list[DeviceConstraint] = []
    config: list[DeviceConfig] = []


class ResourceClaimSpec(Wire, frozen=True):
    """Spec of a ResourceClaim."""

    devices: DeviceClaim = DeviceClaim()


class AllocatedDevice(Wire, frozen=True):
    """A device that was given to a request, `request` or `request/subrequest`."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    consumed_capacity: Resources = {}


class AllocatedDevices(Wire, frozen=True):
    """The devices that a claim was given."""

    results: list[AllocatedDevice] = []


class Allocation(Wire, frozen=True):
    """What a claim was given."""

    devices: AllocatedDevices = AllocatedDevices()


class Consumer(Wire, frozen=True):
    """Somebody who uses a claim."""

    resource: str = ""
    name: str = ""
    uid: str = ""


class ResourceClaimStatus(Wire, frozen=True):
    """Status of a ResourceClaim."""

    allocation: Allocation | None = None
    reserved_for: list[Consumer] = []


class ResourceClaim(Wire, frozen=True):
    """A claim to devices."""

    metadata: Meta
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class TemplateMeta(Wire, frozen=True):
    """Metadata that claims of a template get."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class ResourceClaimTemplateSpec(Wire, frozen=True):
    """What each claim of a template is made from."""

    metadata: TemplateMeta = TemplateMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Wire, frozen=True):
    """A template for claims, one per pod."""

    metadata: Meta
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceCharge(Wire, frozen=True):
    """What one device counts as: `Devices`, `Counter` or `Capacity`."""

    type: str = "Devices"
    name: str = ""
    quota_resource: str = ""
    all_matching: int | None = None


class DeviceTerms(Wire, frozen=True):
    """The request that a resource becomes."""

    device_class_name: str = ""
    selectors: list[DeviceSelector] = []
    tolerations: list[Toleration] = []
    capacity_per_unit: Resources = {}


class DeviceTrait(Wire, frozen=True):
    """Something that users may ask for: exactly one field is set."""

    selector: str = ""
    match_attribute: str = ""
    distinct_attribute: str = ""


class ComputeDomainTerms(Wire, frozen=True):
    """How pods on several nodes share memory: `Any` or `Pods`, `Single` or `All`."""

    nodes: str = "Any"
    channels: str = "Single"


class FlavoredResource(Wire, frozen=True):
    """How one resource of a flavor becomes a request for devices."""

    name: str = ""
    strategy: str = "Inject"
    sharing: str = "None"
    charge: DeviceCharge = DeviceCharge()
    request: DeviceTerms = DeviceTerms()
    config: list[OpaqueConfig] = []
    compute_domain: ComputeDomainTerms | None = None
    traits: dict[str, DeviceTrait] = {}


class DeviceFlavorSpec(Wire, frozen=True):
    """Spec of a DeviceFlavor."""

    resource_flavor: str = ""
    resources: list[FlavoredResource] = []


class DeviceFlavorStatus(Wire, frozen=True):
    """Status of a DeviceFlavor."""

    conditions: list[Condition] = []


class DeviceFlavor(Wire, frozen=True):
    """How the resources of a ResourceFlavor become requests for devices."""

    metadata: Meta
    spec: DeviceFlavorSpec = DeviceFlavorSpec()
    status: DeviceFlavorStatus = DeviceFlavorStatus()


class Pod(Wire, frozen=True):
    """A pod, and whose it is."""

    metadata: Meta


class ComputeDomain(Wire, frozen=True):
    """A ComputeDomain of NVIDIA's driver: only whose it is matters."""

    metadata: Meta


class Node(Wire, frozen=True):
    """A node and its labels."""

    metadata: Meta
