"""Lowers the charge of an admitted Workload to the devices that its claims were allocated.

An admission charges the most that its devices could be charged. Once every pod of a pod set has its
claims, what these were allocated is charged instead. Invariants: the charge is never more than the
admission says and never less than what the claims hold, and is not lowered while data are missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from queueing.core.names import PodSetName, ResourceName
from queueing.devices.wire.asks import DeviceSurroundings, devices_of
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.given import Amounts
from queueing.devices.wire.names import POD_SET, label_value
from queueing.devices.wire.objects import ResourceClaim
from queueing.devices.wire.offers import DeviceShape, shapes_of
from queueing.translate.problems import Problems
from queueing.translate.wire.pods import PodSpec
from queueing.translate.wire.workloads import PodSet, PodSetAssignment, Workload

Charges = Mapping[PodSetName, Mapping[ResourceName, int]]
"""By pod set and quota resource."""
AmountsOf = Callable[[ResourceClaim], Amounts | None]
NO_CHARGES: Charges = {}
_BY_CLAIMS = ("Inject", "Slot")


class Possession(NamedTuple):
    """A claim, and the pod set whose pods use it."""

    pod_set: str
    claim: ResourceClaim


class Given(NamedTuple):
    """What the claims of a pod set hold of one quota resource."""

    amount: int
    complete: bool
    """Whether every pod has its claims."""


def possessions(
    workload: Workload, made: Iterable[ResourceClaim], shared: Mapping[str, ResourceClaim]
) -> Iterator[Possession]:
    """Yield claims `made` for a Workload by its admission, and those that its pods share by name.

    `shared` are the users' claims of its namespace, by name.
    """
    names = {label_value(one.name): one.name for one in workload.spec.pod_sets}
    for claim in made:
        pod_set = names.get(claim.metadata.labels.get(POD_SET, ""))
        if pod_set is not None:
            yield Possession(pod_set, claim)
    for one in workload.spec.pod_sets:
        for named in one.template.spec.resource_claims:
            if named.resource_claim_name in shared:
                yield Possession(one.name, shared[named.resource_claim_name])


def given(
    workload: Workload,
    held: Iterable[Possession],
    around: DeviceSurroundings,
    amounts: AmountsOf,
) -> dict[tuple[str, str], Given]:
    """Return what a Workload's claims hold, by pod set and quota resource.

    Left out is what claims alone do not tell: resources that the scheduler or a device plugin
    serves, and claims of which it is not known what they count as.
    """
    admission = workload.status.admission
    if admission is None:
        return {}
    assigned = {one.name: one for one in admission.pod_set_assignments}
    done = {one.name: one.count for one in workload.status.reclaimable_pods}
    by_set: dict[str, list[ResourceClaim]] = {}
    for one in held:
        if one.claim.status.allocation is not None:
            by_set.setdefault(one.pod_set, []).append(one.claim)
    found: dict[tuple[str, str], Given] = {}
    for pod_set in workload.spec.pod_sets:
        claims, place = by_set.get(pod_set.name), assigned.get(pod_set.name)
        if not claims or place is None:
            continue
        pods = min(
            pod_set.count if place.count is None else place.count,
            max(0, pod_set.count - done.get(pod_set.name, 0)),
        )
        counted = [amounts(one) for one in claims]
        if None in counted:
            continue
        wanted = _wanted(pod_set, place, pods, around)
        for quota, number in wanted.items():
            sizes = [one[quota] for one in counted if one is not None and quota in one]
            found[pod_set.name, quota] = Given(sum(sizes), complete=len(sizes) >= number)
    return found


def settled(
    before: Charges, found: Mapping[tuple[str, str], Given], admitted: Iterable[PodSetAssignment]
) -> Charges:
    """Return what is charged from now on; what is left out is charged as it was admitted.

    It is lowered when every pod has its claims. While a claim is missing it stays as low as it
    was, or as high as the others that are there make it.
    """
    charges: dict[PodSetName, dict[ResourceName, int]] = {}
    for one in admitted:
        known = dict(before.get(PodSetName(one.name), {}))
        for (pod_set, quota), now in found.items():
            if pod_set != one.name or quota not in one.resource_usage:
                continue
            resource = ResourceName(quota)
            if now.complete:
                known[resource] = now.amount
            elif resource in known:
                known[resource] = max(known[resource], now.amount)
        if known:
            charges[PodSetName(one.name)] = known
    return charges


def _wanted(
    pod_set: PodSet, assigned: PodSetAssignment, pods: int, around: DeviceSurroundings
) -> dict[str, int]:
    """Return how many claims a pod set has when all are there, by quota resource."""
    template = pod_set.template
    found = devices_of(template, around, pod_set.name, Problems())
    wanted = {}
    for shape in shapes_of(found, around.catalog):
        flavor = assigned.flavors.get(shape.quota, "")
        numbers = list(_claims_of(shape, flavor, pods, around.catalog))
        plain = shape.quota not in around.catalog.quotas and _asks_for(template.spec, shape.quota)
        if numbers and None not in numbers and not plain:
            wanted[shape.quota] = sum(one or 0 for one in numbers)
    return wanted


def _claims_of(
    shape: DeviceShape, flavor: str, pods: int, catalog: DeviceCatalog
) -> Iterator[int | None]:
    """Yield how many claims each part of a shape becomes; None for what becomes none of ours."""
    for ask in shape.asks:
        served = catalog.served.get((flavor, ask.resource))
        if served is None or not (ask.slot or served.strategy in _BY_CLAIMS):
            yield None
        else:
            yield 1 if served.sharing == "PerPodSet" and not ask.slot else pods
    for bound in shape.bound:
        if bound.extended or bound.spec is None:
            yield None
        else:
            yield 1 if bound.claim else pods


def _asks_for(spec: PodSpec, resource: str) -> bool:
    """Say whether containers ask for a resource by its own name, beside what devices count as."""
    return any(
        resource in one.resources.requests or resource in one.resources.limits
        for one in (*spec.containers, *spec.init_containers)
    )
