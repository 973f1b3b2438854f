"""Parts of the configuration about resources: what counts as quota, and as what."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from queueing_api.config.model import Settings
from queueing_api.config.zeros import EMPTY_IS_UNSET
from queueing_api.resource.v1 import DeviceSelector
from queueing_api.wire import Quantity


class ResourceTransformation(Settings):
    """A resource that is counted as others."""

    input: str
    """Resource that pods ask for."""
    strategy: Annotated[Literal["Retain", "Replace"], EMPTY_IS_UNSET] = "Retain"
    """Whether the input itself still counts."""
    multiply_by: str | None = None
    """Resource whose amount the outputs are multiplied with."""
    outputs: dict[str, Quantity] = Field(default_factory=dict)
    """What one unit of the input counts as, by resource."""


class DeviceSource(Settings):
    """A number that drivers publish about a device, and that is charged in place of a count."""

    name: Annotated[str, Field(min_length=1)]
    """Name of the counter or capacity."""
    driver: Annotated[str, Field(min_length=1)]
    """Driver that publishes it."""
    device_selector: DeviceSelector | str | None = None
    """CEL expression that chooses the driver's devices."""


class DeviceClassSource(Settings):
    """Where the charge of a device comes from: exactly one of its fields."""

    counter: DeviceSource | None = None
    """A counter that devices share."""
    capacity: DeviceSource | None = None
    """A capacity of the device."""

    @model_validator(mode="after")
    def _is_exactly_one(self) -> Self:
        if (self.counter is None) == (self.capacity is None):
            raise ValueError("exactly one source type must be set per entry")
        return self


class DeviceClassMapping(Settings):
    """A quota resource that stands for classes of devices."""

    name: Annotated[str, Field(min_length=1, max_length=317)]
    """Resource that ClusterQueues have quota for."""
    device_class_names: Annotated[list[str], Field(min_length=1, max_length=8)]
    """DeviceClasses that are charged to it."""
    sources: list[DeviceClassSource] = Field(default_factory=list)
    """What a device is charged with; 1 when empty."""


class Resources(Settings):
    """What counts as quota, and as what."""

    exclude_resource_prefixes: list[str] = Field(default_factory=list)
    """Beginnings of resource names that do not count."""
    quota_check_strategy: Annotated[
        Literal["BlockUndeclared", "IgnoreUndeclared"], EMPTY_IS_UNSET
    ] = "BlockUndeclared"
    """What happens to a workload that asks for a resource without quota: it waits, or the
    resource does not count."""
    transformations: list[ResourceTransformation] = Field(default_factory=list)
    """Resources that are counted as others."""
    device_class_mappings: Annotated[list[DeviceClassMapping], Field(max_length=16)] = Field(
        default_factory=list
    )
    """Quota resources that stand for classes of devices."""

    @model_validator(mode="after")
    def _names_are_used_once(self) -> Self:
        _once("transformations", "input", [item.input for item in self.transformations])
        _once("deviceClassMappings", "name", [item.name for item in self.device_class_mappings])
        classes = [name for item in self.device_class_mappings for name in item.device_class_names]
        _once("deviceClassMappings", "deviceClassNames", classes)
        return self


def _once(where: str, field: str, names: list[str]) -> None:
    for name in sorted(names):
        if names.count(name) > 1:
            raise ValueError(f'{where}: Duplicate value: {field} "{name}" is given more than once')
