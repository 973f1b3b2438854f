"""`resource.k8s.io/v1`: classes, slices and claims of devices, as far as queueing reads them."""

from typing import Any, Literal

from pydantic import Field

from queueing_api.core.pod import NodeSelector, Taint, Toleration
from queueing_api.meta.v1 import KubeObject, ObjectMeta
from queueing_api.wire import Int64, Quantity, ResourceList, Wire


class CelSelector(Wire):
    """A choice of devices by an expression."""

    expression: str
    """CEL expression over one device, true for those chosen."""


class DeviceSelector(Wire):
    """A choice of devices."""

    cel: CelSelector | None = None
    """The expression that chooses."""


class DeviceClassSpec(Wire):
    """What a class of devices is."""

    selectors: list[DeviceSelector] = Field(default_factory=list)
    """Choices, all of which a device must pass."""
    extended_resource_name: str | None = None
    """Extended resource that pods may ask for instead of a claim."""


class DeviceClass(KubeObject):
    """A named choice of devices."""

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["DeviceClass"] = "DeviceClass"
    spec: DeviceClassSpec = Field(default_factory=DeviceClassSpec)
    """What the class is."""


class DeviceCapacity(Wire):
    """A measured property of a device."""

    value: Quantity
    """How much of it the device has."""


class CounterConsumption(Wire):
    """What a device takes from shared counters."""

    counter_set: str
    """Set of counters."""
    counters: dict[str, DeviceCapacity] = Field(default_factory=dict)
    """Amounts taken, by counter."""


class Device(Wire):
    """One device of a slice."""

    name: str
    """Name, unique in the pool."""
    attributes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Properties by name; each holds one typed value."""
    capacity: dict[str, DeviceCapacity] = Field(default_factory=dict)
    """Measured properties by name."""
    consumes_counters: list[CounterConsumption] = Field(default_factory=list)
    """What it takes from counters that it shares with others."""
    taints: list[Taint] = Field(default_factory=list)
    """Marks that keep off claims which do not tolerate them."""
    node_name: str | None = None
    """Node that reaches it, where each device says so."""
    node_selector: NodeSelector | None = None
    """Nodes that reach it, where each device says so."""
    all_nodes: bool | None = None
    """Whether all nodes reach it, where each device says so."""
    allow_multiple_allocations: bool | None = None
    """Whether several requests may share it."""


class CounterSet(Wire):
    """Counters that devices share."""

    name: str
    """Name of the set."""
    counters: dict[str, DeviceCapacity] = Field(default_factory=dict)
    """How much there is, by counter."""


class ResourcePool(Wire):
    """The pool that a slice is a part of."""

    name: str
    """Name of the pool."""
    generation: Int64 = 0
    """Version of the pool; only slices of the newest count."""
    resource_slice_count: Int64 = 1
    """Slices that a complete pool of this generation has."""


class ResourceSliceSpec(Wire):
    """Devices that a driver offers."""

    driver: str
    """Driver that offers them."""
    pool: ResourcePool
    """Pool that they are a part of."""
    node_name: str | None = None
    """Node that reaches them."""
    node_selector: NodeSelector | None = None
    """Nodes that reach them."""
    all_nodes: bool | None = None
    """Whether all nodes reach them."""
    per_device_node_selection: bool | None = None
    """Whether each device says which nodes reach it."""
    devices: list[Device] = Field(default_factory=list)
    """The devices."""
    shared_counters: list[CounterSet] = Field(default_factory=list)
    """Counters that devices of the pool share."""


class ResourceSlice(KubeObject):
    """A part of a driver's pool of devices."""

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceSlice"] = "ResourceSlice"
    spec: ResourceSliceSpec
    """The devices that it offers."""


class CapacityRequirements(Wire):
    """What a request needs of a shared device's capacity."""

    requests: ResourceList = Field(default_factory=dict)
    """Amounts by name."""


class ExactDeviceRequest(Wire):
    """A request for devices of one class."""

    device_class_name: str = ""
    """Class of the devices."""
    selectors: list[DeviceSelector] = Field(default_factory=list)
    """Further choices, all of which a device must pass."""
    allocation_mode: str = "ExactCount"
    """ExactCount, or All that match."""
    count: Int64 = 1
    """Devices asked for with ExactCount."""
    admin_access: bool = False
    """Whether the devices are only looked at, beside their users."""
    tolerations: list[Toleration] = Field(default_factory=list)
    """Taints that the request does not mind."""
    capacity: CapacityRequirements | None = None
    """What it needs of a shared device."""


class DeviceSubRequest(ExactDeviceRequest):
    """One of several ways to satisfy a request."""

    name: str
    """Name within the request."""


class DeviceRequest(Wire):
    """A named request of a claim."""

    name: str
    """Name within the claim."""
    exactly: ExactDeviceRequest | None = None
    """The one way to satisfy it."""
    first_available: list[DeviceSubRequest] = Field(default_factory=list)
    """Ways to satisfy it, best first."""


class DeviceConstraint(Wire):
    """What devices of a claim must have in common, or must not."""

    requests: list[str] = Field(default_factory=list)
    """Requests it is about; empty means all."""
    match_attribute: str | None = None
    """Attribute that must be equal."""
    distinct_attribute: str | None = None
    """Attribute that must differ."""


class DeviceClaim(Wire):
    """The devices that a claim asks for."""

    requests: list[DeviceRequest] = Field(default_factory=list)
    """Requests, all of which must be satisfied."""
    constraints: list[DeviceConstraint] = Field(default_factory=list)
    """What the devices must have in common."""


class ResourceClaimSpec(Wire):
    """What a claim asks for."""

    devices: DeviceClaim = Field(default_factory=DeviceClaim)
    """The devices."""


class DeviceRequestAllocationResult(Wire):
    """A device that was given to a request."""

    request: str
    """Request, or request/subrequest."""
    driver: str
    """Driver of the device."""
    pool: str
    """Pool of the device."""
    device: str
    """Name of the device."""
    admin_access: bool = False
    """Whether it is only looked at."""
    consumed_capacity: ResourceList = Field(default_factory=dict)
    """What the request takes of a shared device."""


class DeviceAllocationResult(Wire):
    """The devices that a claim was given."""

    results: list[DeviceRequestAllocationResult] = Field(default_factory=list)
    """One entry per device."""


class AllocationResult(Wire):
    """What a claim was given."""

    devices: DeviceAllocationResult = Field(default_factory=DeviceAllocationResult)
    """The devices."""
    node_selector: NodeSelector | None = None
    """Nodes that reach them."""


class ResourceClaimConsumer(Wire):
    """Somebody who uses a claim."""

    resource: str
    """Resource of the user, usually pods."""
    name: str
    """Its name."""
    uid: str
    """Its identity."""


class ResourceClaimStatus(Wire):
    """How far a claim is."""

    allocation: AllocationResult | None = None
    """What it was given; unset means nothing yet."""
    reserved_for: list[ResourceClaimConsumer] = Field(default_factory=list)
    """Those who may use it now."""


class ResourceClaim(KubeObject):
    """A claim to devices."""

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceClaim"] = "ResourceClaim"
    spec: ResourceClaimSpec = Field(default_factory=ResourceClaimSpec)
    """What it asks for."""
    status: ResourceClaimStatus = Field(default_factory=ResourceClaimStatus)
    """How far it is."""


class ResourceClaimTemplateSpec(Wire):
    """What each claim of a template is made from."""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    """Labels and annotations that each claim gets."""
    spec: ResourceClaimSpec = Field(default_factory=ResourceClaimSpec)
    """What each claim asks for."""


class ResourceClaimTemplate(KubeObject):
    """A template for claims, one per pod."""

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceClaimTemplate"] = "ResourceClaimTemplate"
    spec: ResourceClaimTemplateSpec = Field(default_factory=ResourceClaimTemplateSpec)
    """What each claim is made from."""
