"""A pod template → what it requests of devices.

In three ways: by extended resources such as `nvidia.com/gpu`; by slots, which are claims of the pod
whose content an annotation describes and an admission fills in; and by claims or claim templates
that the user wrote.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from queueing.devices.rules.containers import SIDECAR, InitAsk, most_at_once, uses
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.wire import objects as wire
from queueing.devices.wire.catalog import NO_CATALOG, DeviceCatalog
from queueing.devices.wire.names import INJECTED_MAX, SLOT, TRAITS, digest
from queueing.devices.wire.own_claims import OwnClaims
from queueing.translate.problems import Problems
from queueing.translate.wire.pods import Container, PodClaim, PodSpec, PodTemplate
from queueing_api.quantity import QuantityError, amount

VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")
"""What a trait's value may be: it becomes a string in a CEL expression, which it must not end."""
SLOT_REQUEST = "devices"
"""Name of the request in a slot's template."""

_json = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerDevices:
    """Devices of one container: the name of their request, and how many."""

    request: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRequest:
    """What one pod requests of one resource for which flavors have DeviceFlavors."""

    resource: str
    parts: tuple[ContainerDevices, ...]
    traits: tuple[tuple[str, str], ...] = ()
    """Names and values, in order; the value of a trait that has none is empty."""
    slot: str = ""
    """Name of the pod's claim that is a slot; empty when containers request the resource."""
    template: str = ""
    """ResourceClaimTemplate that the slot names."""
    uneven: str = ""
    """Init container that no container can lend its devices to; empty when there is none. Only
    Kubernetes itself can then share them out."""

    @property
    def units(self) -> int:
        """How many devices a pod gets."""
        return sum(part.count for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserClaim:
    """A claim that the user wrote."""

    name: str
    """Within the pod."""
    template: str = ""
    claim: str = ""
    """Name of a claim that all pods share; exactly one of the two is set."""
    spec: wire.ResourceClaimSpec | None = None
    """What it requests; None while the template or claim does not exist."""
    extended: str = ""
    """The extended resource for which the scheduler creates the claim itself (KEP-5004)."""
    queue: str = ""
    """The LocalQueue that a shared claim is charged to, by its label."""
    life: str = ""
    """Uid of the template or claim."""


@dataclass(frozen=True, slots=True)
class PodDevices:
    """All that a pod asks of devices."""

    asks: tuple[ResourceRequest, ...] = ()
    bound: tuple[UserClaim, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.asks or self.bound)


NO_DEVICES = PodDevices()


@dataclass(frozen=True, slots=True)
class DeviceSurroundings:
    """What the devices of a namespace's pods depend on besides their template."""

    catalog: DeviceCatalog = NO_CATALOG
    templates: Mapping[str, wire.ResourceClaimTemplate] = field(default_factory=dict)
    """Of the namespace, by name; those that we made ourselves left out."""
    claims: Mapping[str, wire.ResourceClaim] = field(default_factory=dict)


NO_SURROUNDINGS = DeviceSurroundings()


def devices_of(
    template: PodTemplate, around: DeviceSurroundings, path: str, problems: Problems
) -> PodDevices:
    """Return what a pod requests of devices; what cannot be served is added to `problems`."""
    if around.catalog.is_empty:
        return NO_DEVICES
    traits = _traits(template, path, problems)
    for name in sorted(traits.keys() - around.catalog.quotas.keys()):
        problems.add(path, f"no DeviceFlavor serves {name}, so its traits cannot be granted")
    slots, slotted = _slots(template, around.catalog, path, problems)
    asks = tuple(_classic(template.spec, around.catalog, traits))
    ignored = around.catalog.gates.claims is OwnClaims.IGNORED
    own = [one for one in template.spec.resource_claims if one.name not in slotted and not ignored]
    bound = (
        *(_bound(one, around) for one in own),
        *_extended(template.spec, around.catalog),
    )
    if len(asks) > INJECTED_MAX:
        told = f"{len(asks)} resources of one pod are devices; at most {INJECTED_MAX} can be"
        problems.add(path, f"{DeviceReason.UNSUPPORTED}: {told}")
    return PodDevices((*asks, *slots), bound)


def _classic(
    spec: PodSpec, catalog: DeviceCatalog, traits: Mapping[str, tuple[tuple[str, str], ...]]
) -> Iterator[ResourceRequest]:
    everywhere = (*spec.containers, *spec.init_containers)
    named = {name for one in everywhere for name, count in _counts(one).items() if count}
    for resource in sorted(named & catalog.quotas.keys()):
        parts, uneven = _parts(spec, resource)
        told = traits.get(resource, ())
        yield ResourceRequest(resource=resource, parts=parts, traits=told, uneven=uneven)


def _parts(spec: PodSpec, resource: str) -> tuple[tuple[ContainerDevices, ...], str]:
    """Return the requests of a pod's containers, and the init container that fits none of them."""
    counts, inits = _amounts(spec, resource)
    used = uses(counts, inits)
    parts = [ContainerDevices(request=f"c{at}", count=count) for at, count in counts.items()]
    parts += [
        ContainerDevices(request=used[at], count=one.amount)
        for at, one in inits.items()
        if one.sidecar
    ]
    alone = [at for at, one in inits.items() if not one.sidecar and used[at] == f"i{at}"]
    if not alone:
        return tuple(parts), ""
    even = not parts and len(alone) == 1
    missing = most_at_once(counts.values(), inits.values()) - sum(part.count for part in parts)
    if missing > 0:
        parts.append(ContainerDevices(request=used[alone[0]], count=missing))
    return tuple(parts), "" if even else spec.init_containers[alone[0]].name


def _amounts(spec: PodSpec, resource: str) -> tuple[dict[int, int], dict[int, InitAsk[int]]]:
    """Return how much containers, and init containers, ask for of a resource, by position."""
    counts = {at: _counts(one).get(resource, 0) for at, one in enumerate(spec.containers)}
    inits = {
        at: InitAsk(_counts(one).get(resource, 0), one.restart_policy == SIDECAR)
        for at, one in enumerate(spec.init_containers)
    }
    return (
        {at: count for at, count in counts.items() if count},
        {at: one for at, one in inits.items() if one.amount},
    )


def _extended(spec: PodSpec, catalog: DeviceCatalog) -> Iterator[UserClaim]:
    """Read requests by which the scheduler itself claims devices of a class that is counted."""
    everywhere = (*spec.containers, *spec.init_containers)
    for name in sorted({name for one in everywhere for name in _counts(one)}):
        device_class = catalog.extended.get(name, "")
        if name in catalog.quotas or device_class not in catalog.rules:
            continue
        counts, inits = _amounts(spec, name)
        total = most_at_once(counts.values(), inits.values())
        if total:
            exactly = wire.SubRequest(device_class_name=device_class, count=total)
            request = wire.DeviceRequest(name="devices", exactly=exactly)
            devices = wire.DeviceClaim(requests=[request])
            yield UserClaim(name="", extended=name, spec=wire.ResourceClaimSpec(devices=devices))


def _counts(container: Container) -> dict[str, int]:
    """Return what a container asks for, in whole units; what is no quantity is told elsewhere."""
    asked = {**container.resources.limits, **container.resources.requests}
    found = {}
    for name, quantity in asked.items():
        try:
            found[name] = amount(name, quantity)
        except QuantityError:
            continue
    return found


def _traits(
    template: PodTemplate, path: str, problems: Problems
) -> dict[str, tuple[tuple[str, str], ...]]:
    text = template.metadata.annotations.get(TRAITS)
    if not text:
        return {}
    found = _object(text, f"{path}.metadata.annotations[{TRAITS}]", problems)
    return {
        resource: _trait_values(values, f"{path}.metadata.annotations[{TRAITS}]", problems)
        for resource, values in found.items()
    }


def _trait_values(values: Any, path: str, problems: Problems) -> tuple[tuple[str, str], ...]:
    if not isinstance(values, dict):
        problems.add(path, 'write it like {"nvidia.com/gpu":{"minMemory":"80Gi"}}')
        return ()
    found = []
    for name in sorted(values):
        value = values[name]
        if value is False:
            continue
        if value is True:
            found.append((name, ""))
        elif isinstance(value, str | int) and VALUE.fullmatch(str(value)):
            found.append((name, str(value)))
        else:
            problems.add(path, f"{name}: {value!r} is no value of a trait")
    return tuple(found)


def _object(text: str, path: str, problems: Problems) -> dict[str, Any]:
    try:
        return _json.decode(text)
    except msgspec.MsgspecError as error:
        problems.add(path, f"is no JSON object: {error}")
        return {}


def _slots(
    template: PodTemplate, catalog: DeviceCatalog, path: str, problems: Problems
) -> tuple[tuple[ResourceRequest, ...], frozenset[str]]:
    claims = {one.name: one for one in template.spec.resource_claims}
    found = []
    named = set()
    for key in sorted(template.metadata.annotations):
        name = key.removeprefix(SLOT)
        if name == key:
            continue
        where = f"{path}.metadata.annotations[{key}]"
        named.add(name)
        wanted = _object(template.metadata.annotations[key], where, problems)
        claim, resource, count = claims.get(name), wanted.get("resource"), wanted.get("count", 1)
        if claim is None or not claim.resource_claim_template_name:
            problems.add(where, f"spec.resourceClaims has no template named {name} to fill")
        elif not isinstance(resource, str) or resource not in catalog.quotas:
            problems.add(where, f"no DeviceFlavor serves {resource}")
        elif not isinstance(count, int) or isinstance(count, bool) or count < 1:
            problems.add(where, f"count {count!r} is no positive number")
        else:
            found.append(
                ResourceRequest(
                    resource=resource,
                    parts=(ContainerDevices(request=SLOT_REQUEST, count=count),),
                    traits=_trait_values(wanted.get("traits", {}), where, problems),
                    slot=name,
                    template=claim.resource_claim_template_name,
                )
            )
    return tuple(found), frozenset(named)


def _bound(found: PodClaim, around: DeviceSurroundings) -> UserClaim:
    if found.resource_claim_template_name:
        template = around.templates.get(found.resource_claim_template_name)
        return UserClaim(
            name=found.name,
            template=found.resource_claim_template_name,
            spec=None if template is None else template.spec.spec,
            life="" if template is None else template.metadata.uid,
        )
    claim = around.claims.get(found.resource_claim_name)
    queue = "kueue.x-k8s.io/queue-name"
    return UserClaim(
        name=found.name,
        claim=found.resource_claim_name,
        spec=None if claim is None else claim.spec,
        queue="" if claim is None else claim.metadata.labels.get(queue, ""),
        life="" if claim is None else claim.metadata.uid or claim.metadata.key,
    )


def shape_of(asks: Iterable[ResourceRequest], bound: Iterable[UserClaim] = ()) -> str:
    """Digest asks: equal shapes can be served by the same devices at the same charge."""
    return digest(
        [_shape(one) for one in asks],
        [msgspec.to_builtins(one.spec) for one in bound],
    )[:24]


def _shape(ask: ResourceRequest) -> list[Any]:
    counts = [part.count for part in ask.parts]
    return [ask.resource, counts, ask.traits, *([True] if ask.uneven else [])]
