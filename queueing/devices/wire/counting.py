"""Adds what its devices are charged to the other requests of a pod set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from queueing.core.devices import DeviceAsk
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.rules.requests import CONSUMERS_MAX, DEVICES_MAX, DeviceClaim, Way
from queueing.devices.wire.asks import DeviceSurroundings, UserClaim, devices_of
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.names import SLOT, TRAITS
from queueing.devices.wire.offers import DeviceShape, shapes_of
from queueing.devices.wire.own_claims import INTEGRATION, OwnClaims
from queueing.translate.problems import Problems
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import PodSet

_MAP = (
    "is not mapped to a resource with quota: add it to deviceClassMappings of the Configuration, or"
    " to a DeviceFlavor"
)
_SWITCHED_OFF = f"claims of one's own are not counted: feature gate {INTEGRATION} is off"


@dataclass(frozen=True, slots=True)
class CountedDevices:
    """Requests of one pod with its devices counted, and what flavors are asked about them."""

    requests: Mapping[str, int]
    facts: tuple[DeviceAsk, ...] = ()
    shapes: tuple[DeviceShape, ...] = ()
    slots: Mapping[str, int] = field(default_factory=dict)
    """Devices of its slots by the resource that they name; no container requests them by it."""


def count_devices(
    pod_set: PodSet,
    requests: Mapping[str, int],
    around: DeviceSurroundings,
    *,
    queue: str,
    problems: Problems,
) -> CountedDevices:
    """Count devices: resources under the name of their quota, claims by the classes they name.

    `queue` is the LocalQueue of the Workload. What can never be admitted is noted as a problem.
    """
    catalog, path = around.catalog, f"podSets[{pod_set.name}]"
    if catalog.is_empty:
        for told in _uncounted(pod_set.template, catalog):
            problems.add(f"{path}.template.spec", told)
        return CountedDevices(requests)
    found = devices_of(pod_set.template, around, f"{path}.template.spec", problems)
    if not found:
        return CountedDevices(requests)
    for one in found.bound:
        for told in _why_not(one, pod_set, queue, catalog):
            problems.add(f"{path}.template.spec.resourceClaims[{one.name}]", told)
    counted = dict(requests)
    for ask in found.asks:
        if not ask.slot:
            counted.pop(ask.resource, None)
    for one in found.bound:
        if one.extended:
            counted.pop(one.extended, None)
    shapes = shapes_of(found, catalog)
    facts = tuple(one.fact(catalog, alone=not counted.get(one.quota)) for one in shapes)
    for shape in shapes:
        counted[shape.quota] = counted.get(shape.quota, 0) + shape.units(catalog)
    slots: dict[str, int] = {}
    for ask in found.asks:
        if ask.slot and not catalog.as_kueue:
            slots[ask.resource] = slots.get(ask.resource, 0) + ask.units
    return CountedDevices(counted, facts, shapes, slots)


def _uncounted(template: PodTemplate, catalog: DeviceCatalog) -> Iterator[str]:
    """Say what cannot be granted as long as there is no rule about any device.

    To start such work all the same would start it without what it asks for, or uncharged.
    """
    annotations = template.metadata.annotations
    if not catalog.as_kueue and any(one == TRAITS or one.startswith(SLOT) for one in annotations):
        yield "its devices are asked for by traits or slots, and there is no DeviceFlavor"
    for one in template.spec.resource_claims:
        match catalog.gates.claims:
            case OwnClaims.COUNTED:
                yield f"resourceClaims[{one.name}]: its DeviceClass {_MAP}"
            case OwnClaims.REFUSED:
                yield f"resourceClaims[{one.name}]: {_SWITCHED_OFF}"
            case OwnClaims.IGNORED:
                return


def _why_not(one: UserClaim, pod_set: PodSet, queue: str, catalog: DeviceCatalog) -> list[str]:
    """Return why a claim of the user's own can never be granted."""
    if one.spec is None:
        if one.claim:
            return [f"ResourceClaim {one.claim} not found"]
        return [f"ResourceClaimTemplate {one.template} not found"]
    claim = claim_of(one.spec)
    told = _not_counted(one, claim, catalog)
    for request in claim.requests:
        for way in request.ways:
            if not way.admin:
                told += _no_way(request.name, way, catalog, extended=bool(one.extended))
    if claim.device_count > DEVICES_MAX:
        told.append(
            f"{DeviceReason.UNSUPPORTED}: {claim.device_count} devices:"
            f" one claim can be given {DEVICES_MAX}"
        )
    return told + _not_shared(one, pod_set, queue)


def _not_counted(one: UserClaim, claim: DeviceClaim, catalog: DeviceCatalog) -> list[str]:
    """Return what of a claim the settings do not let us count."""
    told = []
    if catalog.gates.claims is OwnClaims.REFUSED and not one.extended:
        told.append(_SWITCHED_OFF)
    if catalog.as_kueue and one.claim:
        told.append(f"ResourceClaim {one.claim}: claims by name are not counted in Kueue mode")
    if catalog.as_kueue and any(way.name for request in claim.requests for way in request.ways):
        told.append("firstAvailable is not counted in Kueue mode")
    return told


def _not_shared(one: UserClaim, pod_set: PodSet, queue: str) -> list[str]:
    """Return why the pods of a set cannot all use a claim by its name."""
    told = []
    if one.claim and one.queue != queue:
        told.append(
            f"ResourceClaim {one.claim} is shared: label it kueue.x-k8s.io/queue-name: {queue} to"
            " charge it to this queue"
        )
    if one.claim and pod_set.count > CONSUMERS_MAX:
        told.append(
            f"{DeviceReason.UNSUPPORTED}: {pod_set.count} pods:"
            f" one claim can be used by {CONSUMERS_MAX}"
        )
    return told


def _no_way(request: str, way: Way, catalog: DeviceCatalog, *, extended: bool) -> Iterator[str]:
    """Say why one way of a request cannot be counted."""
    name = way.device_class
    rule = catalog.rules.get(name)
    if not way.count and (catalog.as_kueue or not (rule and rule.all_matching)):
        yield (
            f"{DeviceReason.UNSUPPORTED}: request {request}: allocationMode All is not"
            " counted unless charge.allMatching of a DeviceFlavor says what it counts as"
        )
    if rule is None:
        yield f"DeviceClass {name} {_MAP}"
        return
    for kind in sorted({one.type for one in rule.sources} & catalog.gates.off.keys()):
        gate = catalog.gates.off[kind]
        yield f"DeviceClass {name} counts by {kind.lower()}: feature gate {gate} is off"
    if rule.sources and extended and catalog.as_kueue:
        yield f"DeviceClass {name} counts by counter or capacity, and is asked for as a resource"
