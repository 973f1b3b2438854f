"""What a flavor's devices offer for each shape that pods request; decisions depend on this fact."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.names import FlavorName, ResourceName
from queueing.devices.rules.index import Device, DeviceIndex
from queueing.devices.rules.matching import MatchingDevices, candidates
from queueing.devices.rules.messages import (
    DeviceReason,
    DeviceRefusal,
    apart,
    but_for_taints,
    none_published,
    too_few,
    too_small,
    unsupported,
)
from queueing.devices.rules.packing import MatchedRequest, pods_served
from queueing.devices.rules.requests import CONSUMERS_MAX, DEVICES_MAX, DeviceClaim, Way
from queueing.devices.wire.asks import PodDevices, ResourceRequest, UserClaim, shape_of
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.charges import claim_charges, device_charge
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.objects import FlavoredResource
from queueing.devices.wire.terms import UnservedError, check, claim_for, is_plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceShape:
    """What one pod requests of devices and is charged as one quota resource."""

    quota: str
    asks: tuple[ResourceRequest, ...] = ()
    bound: tuple[UserClaim, ...] = ()

    @property
    def key(self) -> str:
        """Digest of the shape; flavors' offers are found by it."""
        return shape_of(self.asks, self.bound)

    def units(self, catalog: DeviceCatalog) -> int:
        """Return what is charged per pod while no device is known."""
        claims = (claim_of(one.spec) for one in self.bound if one.spec is not None)
        charged = sum(claim_charges(one, {}, catalog).get(self.quota, 0) for one in claims)
        return sum(ask.units for ask in self.asks) + charged

    def _undivided(self, catalog: DeviceCatalog) -> Iterator[FlavorName]:
        """Yield the flavors in which a part of it becomes one claim of all pods."""
        asked = {ask.resource for ask in self.asks if not ask.slot}
        for (flavor, resource), served in catalog.served.items():
            if resource in asked and served.sharing == "PerPodSet":
                yield FlavorName(flavor)

    @property
    def claim(self) -> str:
        """Uid of the claim that it is, if it is a single one that others may name, too."""
        if self.asks or len(self.bound) != 1:
            return ""
        return self.bound[0].life if self.bound[0].claim else ""

    def fact(self, catalog: DeviceCatalog, *, alone: bool = True) -> DeviceAsk:
        """Return the fact for the engine; unless `alone`, pods also request the resource itself."""
        return DeviceAsk(
            resource=ResourceName(self.quota),
            shape=self.key,
            units=self.units(catalog),
            needs_offer=any(_needs_offer(ask, catalog) for ask in self.asks),
            undivided=frozenset(self._undivided(catalog)),
            claim=self.claim if alone else "",
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """A flavor's offer for a shape, with the reason of a refusal and doubts about it."""

    offer: DeviceOffer
    refusal: DeviceRefusal | None = None
    doubts: tuple[str, ...] = field(default=())


def shapes_of(found: PodDevices, catalog: DeviceCatalog) -> tuple[DeviceShape, ...]:
    """Return the shapes of a pod, one per quota resource, in order of the resources' names."""
    asks: dict[str, list[ResourceRequest]] = {}
    bound: dict[str, list[UserClaim]] = {}
    for ask in found.asks:
        asks.setdefault(catalog.quotas[ask.resource], []).append(ask)
    for one in found.bound:
        for quota in claim_charges(claim_of(one.spec), {}, catalog) if one.spec else ():
            bound.setdefault(quota, []).append(one)
    return tuple(
        DeviceShape(quota=quota, asks=tuple(asks.get(quota, ())), bound=tuple(bound.get(quota, ())))
        for quota in sorted(asks.keys() | bound.keys())
    )


def _needs_offer(ask: ResourceRequest, catalog: DeviceCatalog) -> bool:
    """Say whether flavors without devices cannot serve an ask: plain counts may be a plugin's."""
    return bool(ask.traits or ask.slot) or catalog.quotas[ask.resource] != ask.resource


def judge(
    shape: DeviceShape,
    flavor: str,
    labels: Mapping[str, str],
    *,
    catalog: DeviceCatalog,
    index: DeviceIndex,
) -> Judgement | None:
    """Compare a shape with the devices of a flavor; None where they make no difference.

    `labels` are those of the flavor's nodes.
    """
    served = [(ask, catalog.served.get((flavor, ask.resource))) for ask in shape.asks]
    if any(one is None for _, one in served) or is_only_counted(shape, catalog, index):
        return None
    globally = catalog.as_kueue and not shape.asks
    known = (index.on({} if globally else labels), catalog, index)
    judged = [_judge_ask(ask, one, flavor, known) for ask, one in served if one is not None]
    judged += [_judge_bound(one, shape.quota, flavor, known) for one in shape.bound]
    for one in judged:
        if one.refusal is not None:
            return one
    bounds = [one.offer.pods_max for one in judged if one.offer.pods_max is not None]
    offer = DeviceOffer(
        amount=sum(one.offer.amount for one in judged),
        pods_max=min(bounds, default=None),
        together=all(one.offer.together for one in judged),
    )
    return Judgement(offer, doubts=tuple(text for one in judged for text in one.doubts))


def is_only_counted(shape: DeviceShape, catalog: DeviceCatalog, index: DeviceIndex) -> bool:
    """Say whether claims of the user's own count by their number, with no look at devices.

    So they do where nobody publishes devices. In Kueue devices are looked at only where a counter
    or capacity is charged, and where a claim has selectors of its own.
    """
    if shape.asks:
        return False
    if any(one.sources for one in catalog.rules.values() if one.quota == shape.quota):
        return False
    if not catalog.as_kueue:
        return not index.devices
    claims = (claim_of(one.spec) for one in shape.bound if one.spec is not None)
    return not any(
        way.selectors for claim in claims for request in claim.requests for way in request.ways
    )


Known = tuple[Sequence[Device], DeviceCatalog, DeviceIndex]
"""The devices of a flavor, and what else is known of devices."""


def _judge_bound(one: UserClaim, quota: str, flavor: str, known: Known) -> Judgement:
    """Hold a claim that the user wrote against the flavor's devices."""
    devices, catalog, index = known
    if one.spec is None:
        return Judgement(DeviceOffer())
    claim = claim_of(one.spec)
    wanted, refusal, doubts = match(claim, devices, catalog)
    by_request = {item.name: {way.name: found for way, found in item.ways} for item in wanted}
    found = {
        (position, place): by_request[request.name].get(way.name, ())
        for position, request in enumerate(claim.requests)
        for place, way in enumerate(request.ways)
    }
    amount = claim_charges(claim, found, catalog).get(quota, 0)
    if catalog.as_kueue and refusal is None:
        # Kueue asks whether enough devices match, wherever they are.
        return Judgement(DeviceOffer(amount=amount), doubts=doubts)
    served = pods_served(index, claim, wanted) if refusal is None else 0
    if served == 0:
        return _refused(flavor, refusal or _why_none(claim, wanted), amount, known)
    shared = bool(one.claim)
    most = CONSUMERS_MAX if shared else served
    return Judgement(DeviceOffer(amount=amount, pods_max=most, together=shared), doubts=doubts)


def _judge_ask(
    ask: ResourceRequest,
    resource: FlavoredResource,
    flavor: str,
    known: Known,
) -> Judgement:
    devices, catalog, index = known
    try:
        if is_plugins(resource):
            check(ask, resource)
            return Judgement(DeviceOffer(amount=ask.units))
        claim = claim_for(ask, resource)
    except UnservedError as error:
        return _refused(flavor, unsupported(str(error)), ask.units, known)
    wanted, refusal, doubts = match(claim, devices, catalog)
    found = [(way, matched) for one in wanted for way, matched in one.ways]
    each = [device_charge(resource.charge, way, matched) * way.count for way, matched in found]
    amount = sum(each) or ask.units
    if refusal is not None:
        return _refused(flavor, refusal, amount, known)
    served = pods_served(index, claim, wanted)
    if served == 0:
        return _refused(flavor, _why_none(claim, wanted), amount, known)
    together = resource.sharing == "PerPodSet" and not ask.slot  # each pod's slot is its own
    most = CONSUMERS_MAX if together else served
    return Judgement(DeviceOffer(amount=amount, pods_max=most, together=together), doubts=doubts)


def match(
    claim: DeviceClaim, devices: Sequence[Device], catalog: DeviceCatalog
) -> tuple[list[MatchedRequest], DeviceRefusal | None, tuple[str, ...]]:
    """Hold every request of a claim against devices; say what cannot be had, and what is doubted.

    A request is refused only when none of its ways is left.
    """
    wanted, refusal = [], None
    doubts: dict[str, None] = {}
    for request in claim.requests:
        ways, refusals = [], []
        for way in request.ways:
            found = candidates(way, devices, catalog.classes)
            doubts |= dict.fromkeys(found.doubts)
            refused = _refusal_of(way, found)
            if refused is None:
                ways.append((way, found.devices))
            else:
                refusals.append(refused)
        if not ways and refusals:
            refusal = refusal or refusals[0]
        wanted.append(MatchedRequest(request.name, tuple(ways)))
    return wanted, refusal, tuple(doubts)


def _refusal_of(way: Way, found: MatchingDevices) -> DeviceRefusal | None:
    """Return why these devices cannot serve one way of a request; None when they may."""
    if found.refusal is not None:
        return found.refusal
    if found.short:
        return too_small(found.short)
    needed = max(way.count, 1)
    if len(found.devices) < needed and not _divisible(found.devices):
        return too_few(len(found.devices), needed, "the request", list(_but(found)))
    return None


def _but(found: MatchingDevices) -> Iterator[str]:
    """Say what keeps devices from matching, where it is one thing."""
    if found.tainted:
        yield but_for_taints(found.tainted)
    if found.unmet:
        yield found.unmet


def _divisible(devices: Sequence[Device]) -> bool:
    return any(one.shared for one in devices)


def _refused(flavor: str, refusal: DeviceRefusal, amount: int, known: Known) -> Judgement:
    devices, _, index = known
    told = f"flavor {flavor}: {refusal.reason}: {refusal.text}"
    if not devices and refusal.reason is DeviceReason.NO_MATCH:
        told = f"{told}; {none_published(index.incomplete)}"
    return Judgement(DeviceOffer(amount=amount, problem=told, pods_max=0), refusal=refusal)


def _why_none(claim: DeviceClaim, wanted: Sequence[MatchedRequest]) -> DeviceRefusal:
    """Say why no node serves one pod although enough devices match."""
    for one in claim.constraints:
        if not one.distinct:
            return apart(one.attribute)
    count = max((way.count for item in wanted for way, _ in item.ways), default=1)
    at_node: dict[str, int] = {}
    for item in wanted:
        for _, devices in item.ways:
            for device in devices:
                at_node[device.node] = at_node.get(device.node, 0) + 1
    if not count:
        return unsupported(
            f"all devices are asked for: one claim can be given {DEVICES_MAX}, and at least one"
        )
    return too_few(max(at_node.values(), default=0), count, "on any one node")


def offers(
    shapes: Iterable[DeviceShape],
    flavor: str,
    labels: Mapping[str, str],
    *,
    catalog: DeviceCatalog,
    index: DeviceIndex,
) -> dict[str, DeviceOffer]:
    """Return a flavor's offers by `DeviceShape.key`: the part of its fact that is about devices."""
    judged = (
        (shape.key, judge(shape, flavor, labels, catalog=catalog, index=index)) for shape in shapes
    )
    return {key: one.offer for key, one in judged if one is not None}
