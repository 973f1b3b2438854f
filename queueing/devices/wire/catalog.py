"""DeviceFlavors, DeviceClasses and the configuration's mappings, joined into one value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from queueing.devices.rules.matching import Classes
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import CLASS_PREFIX
from queueing.devices.wire.own_claims import DeviceGates, gates_of
from queueing_api.config.v1beta2 import Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaSource:
    """A number that is charged for devices of a class: a counter or a capacity of a driver."""

    type: str
    name: str
    driver: str
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRule:
    """What a device of a DeviceClass is charged as when users claim it themselves."""

    quota: str
    sources: tuple[QuotaSource, ...] = ()
    all_matching: int | None = None
    """How many devices a request for all devices is charged as; None when not configured."""
    mapped: bool = False
    """Whether `deviceClassMappings` of the Configuration say so, and not a DeviceFlavor."""


@dataclass(frozen=True, slots=True)
class DeviceCatalog:
    """All rules about devices; while it is empty, devices are ignored altogether."""

    served: Mapping[tuple[str, str], wire.FlavoredResource] = field(default_factory=dict)
    """How a resource is served, by the names of ResourceFlavor and resource."""
    quotas: Mapping[str, str] = field(default_factory=dict)
    """The resource that is charged, by the resource that users ask for."""
    classes: Classes = field(default_factory=dict)
    rules: Mapping[str, ClassRule] = field(default_factory=dict)
    """By DeviceClass."""
    extended: Mapping[str, str] = field(default_factory=dict)
    """DeviceClass of each extended resource that one stands for."""
    as_kueue: bool = False
    """Whether claims that users wrote count as in Kueue: by number, whatever devices there are."""
    gates: DeviceGates = field(default_factory=DeviceGates)
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why a DeviceFlavor, or a part of it, is not used; by its name."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no rule at all."""
        return not self.served and not self.rules


NO_CATALOG = DeviceCatalog()


def catalog_of(
    flavors: Iterable[wire.DeviceFlavor],
    classes: Iterable[wire.DeviceClass] = (),
    configuration: Configuration | None = None,
    *,
    as_kueue: bool = False,
) -> DeviceCatalog:
    """Join the rules. Of two DeviceFlavors that contradict each other the first by name counts."""
    served: dict[tuple[str, str], wire.FlavoredResource] = {}
    owners: dict[tuple[str, str], str] = {}
    quotas: dict[str, str] = {}
    problems: dict[str, list[str]] = {}
    for flavor in sorted(flavors, key=lambda one: one.metadata.name):
        name, target = flavor.metadata.name, flavor.spec.resource_flavor
        for one in flavor.spec.resources:
            quota = one.charge.quota_resource or one.name
            key = (target, one.name)
            if key in served:
                told = f"{one.name} of ResourceFlavor {target} is served by {owners[key]} already"
                problems.setdefault(name, []).append(told)
            elif quotas.get(one.name, quota) != quota:
                told = f"{one.name} is charged as {quotas[one.name]} elsewhere, here as {quota}"
                problems.setdefault(name, []).append(told)
            else:
                served[key], owners[key], quotas[one.name] = one, name, quota
    found = sorted(classes, key=lambda one: (one.metadata.created, one.metadata.name))
    gates = gates_of(configuration)
    return DeviceCatalog(
        served=served,
        quotas=quotas,
        classes={
            one.metadata.name: tuple(item.cel.expression for item in one.spec.selectors)
            for one in found
        },
        rules=_rules(configuration, served),
        extended=_extended(found, implicit=not as_kueue) if gates.extended else {},
        as_kueue=as_kueue,
        gates=gates,
        problems={name: "; ".join(told) for name, told in problems.items()},
    )


def _rules(
    configuration: Configuration | None,
    served: Mapping[tuple[str, str], wire.FlavoredResource],
) -> dict[str, ClassRule]:
    """Return what classes count as: as mapped, else as a DeviceFlavor that requests them says."""
    rules: dict[str, ClassRule] = {}
    for key in sorted(served):
        one = served[key]
        if one.charge.type != "Devices" or not one.request.device_class_name:
            continue
        quota = one.charge.quota_resource or one.name
        known = rules.setdefault(one.request.device_class_name, ClassRule(quota=quota))
        if known.quota == quota and one.charge.all_matching is not None:
            # A claim does not say of which flavor it will be: the dearest counts.
            most = max(known.all_matching or 0, one.charge.all_matching)
            rules[one.request.device_class_name] = replace(known, all_matching=most)
    mappings = configuration.resources.device_class_mappings if configuration else ()
    for mapping in mappings:
        sources = tuple(
            QuotaSource(
                type="Counter" if one.counter is not None else "Capacity",
                name=part.name,
                driver=part.driver,
                selector=_expression(part.device_selector),
            )
            for one in mapping.sources
            if (part := one.counter or one.capacity) is not None
        )
        for name in mapping.device_class_names:
            made = ClassRule(quota=mapping.name, sources=sources, mapped=True)
            said = rules.get(name, made)
            if said.quota == made.quota:
                made = replace(made, all_matching=said.all_matching)
            rules[name] = made
    return rules


def _expression(found: object) -> str:
    cel = getattr(found, "cel", None)
    return str(cel.expression) if cel is not None else str(found or "")


def _extended(classes: Iterable[wire.DeviceClass], *, implicit: bool) -> dict[str, str]:
    """Return the class of each extended resource: of several the newest, then the first by name.

    `implicit` adds the resource that every class has; Kueue counts that by its own name.
    """
    found: dict[str, str] = {}
    newest: dict[str, float] = {}
    for one in classes:
        if implicit:
            found[f"{CLASS_PREFIX}{one.metadata.name}"] = one.metadata.name
        name, created = one.spec.extended_resource_name, one.metadata.created
        if name and (name not in found or created > newest[name]):
            found[name], newest[name] = one.metadata.name, created
    return found
