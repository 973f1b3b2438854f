"""What a flavor's devices are to pods that ask for them: the fact that decisions depend on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.facts import DeviceAsk, DeviceOffer
from queueing.core.names import ResourceName
from queueing.translate.devices.asks import Ask, Bound, PodDevices, shape_of
from queueing.translate.devices.catalog import Catalog
from queueing.translate.devices.charges import device_charge
from queueing.translate.devices.index import Device, Index
from queueing.translate.devices.matching import candidates
from queueing.translate.devices.messages import (
    Refusal,
    apart,
    too_few,
    too_small,
    unsupported,
)
from queueing.translate.devices.packing import Wanted, pods_served
from queueing.translate.devices.requests import Claim
from queueing.translate.devices.terms import UnservedError, claim_for
from queueing.translate.wire.devices import FlavoredResource


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Asks of one pod that are charged as one resource."""

    quota: str
    asks: tuple[Ask, ...] = ()
    bound: tuple[Bound, ...] = ()

    @property
    def key(self) -> str:
        """Digest by which flavors name what they offer for it."""
        return shape_of(self.asks, self.bound)

    def fact(self, catalog: Catalog) -> DeviceAsk:
        """Return what the core is told of it."""
        return DeviceAsk(
            resource=ResourceName(self.quota),
            shape=self.key,
            units=sum(ask.units for ask in self.asks),
            needs_offer=any(_needs_offer(ask, catalog) for ask in self.asks),
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a flavor's devices are to a shape, and all that is worth saying about it."""

    offer: DeviceOffer
    refusal: Refusal | None = None
    doubts: tuple[str, ...] = field(default=())


def shapes_of(found: PodDevices, catalog: Catalog) -> tuple[Shape, ...]:
    """Sort what a pod asks by the resource that it is charged as, in order of names."""
    asks: dict[str, list[Ask]] = {}
    for ask in found.asks:
        asks.setdefault(catalog.quotas[ask.resource], []).append(ask)
    return tuple(Shape(quota=quota, asks=tuple(asks[quota])) for quota in sorted(asks))


def _needs_offer(ask: Ask, catalog: Catalog) -> bool:
    """Say whether flavors without devices cannot serve an ask: plain counts may be a plugin's."""
    return bool(ask.traits or ask.slot) or catalog.quotas[ask.resource] != ask.resource


def judge(
    shape: Shape, flavor: str, labels: Mapping[str, str], *, catalog: Catalog, index: Index
) -> Judgement | None:
    """Hold a shape against the devices of a flavor; None where the flavor has no say in it.

    `labels` are those of the flavor's nodes.
    """
    parts = [(ask, catalog.served.get((flavor, ask.resource))) for ask in shape.asks]
    served = [(ask, one) for ask, one in parts if one is not None]
    if len(served) < len(parts) or not parts:
        return None
    devices = index.on(labels)
    amount, most, doubts = 0, None, ()
    for ask, resource in served:
        judged = _judge_ask(ask, resource, flavor, devices, (catalog, index))
        amount += judged.offer.amount
        if judged.refusal is not None:
            return judged
        most = _lower(most, judged.offer.pods_max)
        doubts = (*doubts, *judged.doubts)
    return Judgement(DeviceOffer(amount=amount, pods_max=most), doubts=doubts)


def _lower(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _judge_ask(
    ask: Ask,
    resource: FlavoredResource,
    flavor: str,
    devices: Sequence[Device],
    known: tuple[Catalog, Index],
) -> Judgement:
    catalog, index = known
    try:
        claim = claim_for(ask, resource)
    except UnservedError as error:
        return _refused(flavor, unsupported(str(error)), ask.units)
    wanted, refusal, doubts = match(claim, devices, catalog)
    found = [(way, matched) for one in wanted for way, matched in one.ways]
    each = [device_charge(resource.charge, way, matched) * way.count for way, matched in found]
    amount = sum(each) or ask.units
    if refusal is not None:
        return _refused(flavor, refusal, amount)
    if resource.strategy == "Native":
        return Judgement(DeviceOffer(amount=amount), doubts=doubts)
    if resource.sharing == "PerPodSet":
        served = pods_served(index, claim, wanted)
        most = None if served is None or served else 0
        amount = 0 if False else amount
    else:
        served = most = pods_served(index, claim, wanted)
    if served == 0:
        return _refused(flavor, _why_none(claim, wanted, len(devices)), amount)
    return Judgement(DeviceOffer(amount=amount, pods_max=most), doubts=doubts)


def match(
    claim: Claim, devices: Sequence[Device], catalog: Catalog
) -> tuple[list[Wanted], Refusal | None, tuple[str, ...]]:
    """Hold every request of a claim against devices; say what cannot be had, and what is doubted.

    A request is refused only when none of its ways is left.
    """
    wanted, refusal, doubts = [], None, []
    for request in claim.requests:
        ways, refusals = [], []
        for way in request.ways:
            found = candidates(way, devices, catalog.classes)
            doubts += [one for one in found.doubts if one not in doubts]
            if found.refusal is not None:
                refusals.append(found.refusal)
            elif found.short:
                refusals.append(too_small(found.short))
            elif len(found.devices) < max(way.count, 1) and not _divisible(found.devices):
                refusals.append(too_few(len(found.devices), max(way.count, 1), "the request"))
            else:
                ways.append((way, found.devices))
        if not ways and refusals:
            refusal = refusal or refusals[0]
        wanted.append(Wanted(request.name, tuple(ways)))
    return wanted, refusal, tuple(doubts)


def _divisible(devices: Sequence[Device]) -> bool:
    return any(one.shared for one in devices)


def _refused(flavor: str, refusal: Refusal, amount: int) -> Judgement:
    told = f"flavor {flavor}: {refusal.text}"
    return Judgement(DeviceOffer(amount=amount, problem=told, pods_max=0), refusal=refusal)


def _why_none(claim: Claim, wanted: Sequence[Wanted], looked_at: int) -> Refusal:
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
    return too_few(max(at_node.values(), default=0), count, "on any one node")
