"""DeviceFlavor: how the resources of a ResourceFlavor become requests for devices."""

from typing import Annotated, Any, Literal

from pydantic import Field

from queueing_api.core.pod import Toleration
from queueing_api.marks import ATOMIC, OPAQUE, Mark, list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.resource.v1 import DeviceSelector
from queueing_api.wire import ResourceList, Wire

Strategy = Literal["Native", "Class", "Slot", "Inject"]
Text = Annotated[str, Field(min_length=1, max_length=253)]


class DeviceCharge(Wire):
    """What one device counts as."""

    type: Literal["Devices", "Counter", "Capacity"] = "Devices"
    """Devices: each counts as one. Counter: what it takes of a counter that devices share.
    Capacity: what is taken of its capacity. Of several devices that would do, the largest
    counts."""
    name: Annotated[str, Field(max_length=63)] = ""
    """Name of the counter or capacity."""
    quota_resource: Annotated[str, Field(max_length=317)] = ""
    """Resource that ClusterQueues have quota for. Unset: the resource that users ask for."""
    all_matching: Annotated[int, Field(ge=1, le=32)] | None = None
    """Devices that a claim of a user's own counts as, per pod, when it asks for all that match
    (allocationMode All). Unset: such claims are refused."""


class DeviceTerms(Wire):
    """The request that a resource becomes."""

    device_class_name: Annotated[str, Field(max_length=253)] = ""
    """Class of the devices."""
    selectors: Annotated[list[DeviceSelector], Field(max_length=16), ATOMIC] = Field(
        default_factory=list
    )
    """Selectors, all of which a device must match."""
    tolerations: Annotated[list[Toleration], Field(max_length=16), ATOMIC] = Field(
        default_factory=list
    )
    """Device taints that the request tolerates."""
    capacity_per_unit: ResourceList = Field(default_factory=dict)
    """Capacity that each unit takes of a device that may be shared."""


class OpaqueConfig(Wire):
    """Configuration that is passed to a driver unchanged."""

    driver: Text
    """Driver that reads it."""
    parameters: Annotated[dict[str, Any], OPAQUE] = Field(default_factory=dict)
    """An object in the driver's own format."""


class ComputeDomainTerms(Wire):
    """NVIDIA's ComputeDomain, whose pods reach each other's memory over NVLink across nodes."""

    nodes: Literal["Any", "Pods"] = "Any"
    """Any: a pod begins as soon as its own node is ready (numNodes 0). Pods: all wait until as many
    nodes are ready as there are pods, which older drivers need."""
    channels: Literal["Single", "All"] = "Single"
    """How many channels of its node each pod gets."""


class DeviceTrait(Wire):
    """Something that users may ask of devices: exactly one of its fields is set."""

    selector: Annotated[str, Field(max_length=10240)] = ""
    """CEL expression over one device, in which {value} stands for what the user gives."""
    match_attribute: Annotated[str, Field(max_length=316)] = ""
    """Attribute, with its domain, that all devices of a pod must have in common."""
    distinct_attribute: Annotated[str, Field(max_length=316)] = ""
    """Attribute, with its domain, in which all devices of a pod must differ."""


class FlavoredResource(Wire):
    """How one resource of a flavor becomes a request for devices."""

    name: Annotated[str, Field(min_length=1, max_length=317)]
    """Resource that users ask for."""
    strategy: Strategy = "Inject"
    """Native: nothing is changed; the scheduler or a device plugin serves the resource. Class: the
    resource is replaced by the one that stands for the device class. Slot: claims that the pod
    template declares are filled. Inject: pods get a claim when they are created."""
    sharing: Literal["None", "PerPodSet"] = "None"
    """None: every pod has devices of its own. PerPodSet: all pods of a set use one claim."""
    charge: DeviceCharge = Field(default_factory=DeviceCharge)
    """What one device counts as."""
    request: DeviceTerms = Field(default_factory=DeviceTerms)
    """The request that it becomes."""
    config: Annotated[list[OpaqueConfig], Field(max_length=8), ATOMIC] = Field(default_factory=list)
    """Configuration for drivers, for example how a device is shared."""
    compute_domain: ComputeDomainTerms | None = None
    """Set: each pod set gets a ComputeDomain of its own. Needs strategy Inject."""
    traits: Annotated[dict[str, DeviceTrait], Mark(maxProperties=32)] = Field(default_factory=dict)
    """What users may ask for by the annotation queueing.dev/traits, by name."""


class DeviceFlavorSpec(Wire):
    """How the resources of a ResourceFlavor become requests for devices."""

    resource_flavor: Text
    """ResourceFlavor whose nodes have the devices."""
    resources: Annotated[
        list[FlavoredResource], Field(min_length=1, max_length=16), list_map("name")
    ]
    """The resources of the flavor that are served by devices."""


class DeviceFlavorStatus(Wire):
    """Whether the flavor can be used."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Active is False when the flavor contradicts another, or names a class that is
    not installed."""


class DeviceFlavor(KubeObject):
    """How the resources of a ResourceFlavor become requests for devices.

    Quota counts the resource that users ask for. The flavor that a workload is admitted with
    decides which devices that means.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["DeviceFlavor"] = "DeviceFlavor"
    spec: DeviceFlavorSpec
    """How the resources of a ResourceFlavor become requests for devices."""
    status: DeviceFlavorStatus = Field(default_factory=DeviceFlavorStatus)
    """Whether the flavor can be used."""
