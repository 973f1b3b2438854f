"""Which flavors of a resource group the pods of a workload may use at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.core.devices import UNSUPPORTED, DeviceAsk
from queueing.core.facts import FlavorFact, PodSet
from queueing.core.flavor_quotas import ResourceGroup
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.reasons import NoLevel, Obstacle, Unreadable, Unsuitable
from queueing.core.selectors import Requirement, fault, meets, untolerated


@dataclass(frozen=True, slots=True)
class Option:
    """One flavor of a group; `flavor` is None while the ResourceFlavor does not exist."""

    name: FlavorName
    flavor: FlavorFact | None
    resources: Mapping[ResourceName, FlavorResource]


@dataclass(frozen=True, slots=True)
class CompiledGroup:
    """A resource group, prepared for the search: its flavors in order of preference."""

    index: int
    covered: frozenset[ResourceName]
    options: tuple[Option, ...]
    places_all: bool
    """Whether every flavor of the queue has a topology, so that also pods which do not request
    one are placed by it."""


def compile_group(
    index: int,
    group: ResourceGroup,
    flavors: Mapping[FlavorName, FlavorFact],
    *,
    places_all: bool,
) -> CompiledGroup:
    """Join a resource group with the flavors that it names."""
    options = tuple(
        Option(
            one.flavor,
            flavors.get(one.flavor),
            {resource: FlavorResource(one.flavor, resource) for resource in group.covered},
        )
        for one in group.flavors
    )
    return CompiledGroup(index, frozenset(group.covered), options, places_all)


def ineligibility(
    group: CompiledGroup, option: Option, pod_sets: Iterable[PodSet]
) -> Obstacle | None:
    """Return why pods may not use a flavor; None if they may.

    A flavor with a topology is only for pods that request one, unless all flavors of the queue have
    one.
    """
    flavor = option.flavor
    if flavor is None:
        return Unsuitable(f"flavor {option.name} not found")
    for pod_set in pod_sets:
        misplaced = _misplaced(group, flavor, pod_set)
        if misplaced is not None:
            return misplaced
        taint = untolerated(flavor.taints, (*pod_set.tolerations, *flavor.tolerations))
        if taint is not None:
            spelled = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
            return Unsuitable(f"untolerated taint {spelled} in flavor {flavor.name}")
        mismatch = _mismatch(pod_set, flavor)
        if mismatch is not None:
            return mismatch
    return None


def _misplaced(group: CompiledGroup, flavor: FlavorFact, pod_set: PodSet) -> Unsuitable | None:
    """Return why pods that ask for a topology, or do not, may not use a flavor."""
    title = f'Flavor "{flavor.name}"'
    if not pod_set.wants_topology:
        if flavor.topology and not group.places_all:
            return Unsuitable(f"{title} supports only TopologyAwareScheduling")
        return None
    if not flavor.topology:
        asked = pod_set.requests if pod_set.placeable is None else dict(pod_set.placeable.requests)
        if group.covered.isdisjoint(asked):
            return None  # it is for resources that only quota knows
        return Unsuitable(f"{title} does not support TopologyAwareScheduling")
    if flavor.levels is None:
        return Unsuitable(f"{title} information missing in TAS cache")
    request = pod_set.topology
    named = [*(one.topology for one in request.slices)]
    if request.required or request.preferred:
        named.append(request.required or request.preferred or "")
    elif not request.slices and not request.unconstrained:
        named.append("")
    if not set(named) <= set(flavor.levels):
        return NoLevel(f"{title} does not contain the requested level", flavor.levels)
    return None


def out_of_devices(
    group: CompiledGroup, option: Option, pod_sets: Iterable[tuple[PodSet, int]]
) -> Obstacle | None:
    """Return why a flavor's devices cannot serve pod sets with these counts; None if they can."""
    flavor = option.flavor
    if flavor is None:
        return None
    for pod_set, count in pod_sets:
        for ask in pod_set.devices:
            told = _why_not_served(flavor, ask, count) if ask.resource in group.covered else None
            if told is not None:
                return Unsuitable(told)
    return None


def _why_not_served(flavor: FlavorFact, ask: DeviceAsk, pods: int) -> str | None:
    """Return why a flavor's devices cannot serve a request of so many pods; None if they can."""
    offer = flavor.devices.get(ask.shape)
    if offer is None:
        missing = f"flavor {flavor.name} has no DeviceFlavor for the devices asked for"
        return missing if ask.needs_offer else None
    if offer.problem:
        return offer.problem
    if offer.pods_max is None or offer.pods_max >= pods:
        return None
    told = f"its devices serve {offer.pods_max} of {pods} pods"
    if offer.together:
        told = f"{UNSUPPORTED}: {pods} pods: one claim can be used by {offer.pods_max}"
    return f"flavor {flavor.name}: {told}"


def _mismatch(pod_set: PodSet, flavor: FlavorFact) -> Obstacle | None:
    """Match node selector and required affinity, as far as they name labels of the flavor.

    Its nodes may well have other labels, about which the flavor says nothing.
    """
    labels = flavor.node_labels
    other = Unsuitable(f"flavor {flavor.name} doesn't match node affinity")
    for key, value in pod_set.node_selector.items():
        if key in labels and labels[key] != value:
            return other
    if not pod_set.node_affinity:
        return None
    terms = [[one for one in term if one.key in labels] for term in pod_set.node_affinity]
    if not all(terms):
        # Terms are alternatives, and one that names none of the labels matches.
        return None
    problem: Obstacle = other
    for number, term in enumerate(terms):
        unreadable = _unreadable(number, term)
        if unreadable is not None:
            problem = unreadable if problem is other else problem
        elif all(meets(one, labels) for one in term):
            return None
    return problem


def _unreadable(number: int, term: Iterable[Requirement]) -> Unreadable | None:
    """Return the first fault of a term; found only when labels are matched, as in Kubernetes."""
    for at, one in enumerate(term):
        wrong = fault(one)
        if wrong is not None:
            field, told = wrong
            path = f"nodeSelectorTerms[{number}].matchExpressions[{at}].{field}"
            return Unreadable(f"{path}: {told}")
    return None
