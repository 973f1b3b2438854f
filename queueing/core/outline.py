"""Outlines: what a demand needs from a queue's flavors, computed once per shape of workload."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

from queueing.core.devices import DeviceOffer
from queueing.core.eligibility import CompiledGroup, ineligibility, out_of_devices
from queueing.core.facts import PodSet, PodSetAssignment
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.reasons import Obstacle, Unreadable, not_allowed
from queueing.core.settings import QuotaCheck
from queueing.core.topology.requests import PODS
from queueing.core.usage import Demand, PodSetDemand
from queueing.core.values import value

_OFFSET_BASIS, _PRIME, _UINT64_MAX = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1

Amounts = tuple[tuple[ResourceName, int], ...]


@value(kw_only=False)
class Ask:
    """What a part of a demand needs from one resource group; all of it comes from one flavor."""

    group: CompiledGroup
    amounts: Amounts
    obstacles: tuple[Obstacle | None, ...]
    """For each flavor of the group, why the pods may not use it; None if they may."""
    priced: Mapping[FlavorName, Amounts] | None = None
    """The amounts per flavor, where devices of some flavor count as other amounts; else None."""

    def amounts_in(self, flavor: FlavorName) -> Amounts:
        """Return the amounts that are charged if it gets this flavor."""
        return self.amounts if self.priced is None else self.priced.get(flavor, self.amounts)


@value(kw_only=False)
class PodSetGroup:
    """Pod sets that get the same flavors; most often a single one."""

    index: int
    pod_sets: tuple[int, ...]
    """Indices of the pod sets in the demand."""
    asks: tuple[Ask, ...]
    """One per resource group, sorted by the first resource of each (see `search_place`)."""
    uncovered: ResourceName | None
    """The first resource, in the same order, that the queue does not cover: nothing fits."""


Prices = Mapping[tuple[int, ResourceName, FlavorName], int]
"""(Index of a pod set, resource, flavor) → total, in flavors whose DeviceFlavor sets the charge."""


@value(kw_only=False)
class Outline:
    """All parts of a demand, and the total of each pod set."""

    parts: tuple[PodSetGroup, ...]
    totals: tuple[Mapping[ResourceName, int], ...]
    prices: Prices = field(default_factory=dict)
    spelled: dict[tuple[object, ...], tuple[PodSetAssignment, ...]] = field(
        default_factory=dict, compare=False
    )
    """A memo: assignments in their final form, by the flavors chosen."""
    wanted: tuple[tuple[FlavorResource, int], ...] | None = field(default=None, compare=False)
    """The amounts needed of the first flavors that the pods may use; None with several parts."""
    places: bool = field(default=False, compare=False)
    """Whether topologies are concerned, so that quota is not all that it needs."""
    may_shrink: bool = field(default=False, compare=False)
    fits: dict[tuple[int, ...], Any] = field(default_factory=dict, compare=False)
    """A memo: the assignments for which these flavors have enough, by the borrowing level of each
    (see `nomination`)."""

    def total(self, number: int, resource: FlavorResource) -> int:
        """Return what the pod set with this index is charged of a flavor-resource."""
        flavor, name = resource
        total = self.totals[number].get(name, 0)
        return self.prices.get((number, name, flavor), total) if self.prices else total


def outline_of(demand: Demand, groups: Sequence[CompiledGroup], quota_check: QuotaCheck) -> Outline:
    """Return the outline of a demand: its requests by part and resource group."""
    group_of = {resource: group for group in groups for resource in group.covered}
    again = _named_again(demand) if demand.claims else frozenset()
    totals = tuple(
        _totals(one, number, again, counts_pods=PODS in group_of)
        for number, one in enumerate(demand.pod_sets)
    )
    prices = _prices(demand, totals, group_of, again)
    together: dict[str, list[int]] = {}
    for number, one in enumerate(demand.pod_sets):
        together.setdefault(_party(number, one.pod_set), []).append(number)
    parts = tuple(
        _part(index, numbers, demand, totals, (group_of, quota_check, prices))
        for index, numbers in enumerate(together.values())
    )
    kept = tuple({r: v for r, v in one.items() if r in group_of} for one in totals)
    places = any(one.pod_set.wants_topology for one in demand.pod_sets) or any(
        option.flavor is not None and option.flavor.topology
        for group in groups
        for option in group.options
    )
    wanted = None if places else _wanted(parts)
    shrinks = demand.may_shrink
    return Outline(parts, kept, prices, wanted=wanted, places=places, may_shrink=shrinks)


def _wanted(parts: Sequence[PodSetGroup]) -> tuple[tuple[FlavorResource, int], ...] | None:
    """Return what a single part needs of the first flavor of each group that its pods may use."""
    if len(parts) != 1 or parts[0].uncovered is not None:
        return None
    found = []
    for ask in parts[0].asks:
        stops = (one is None or isinstance(one, Unreadable) for one in ask.obstacles)
        first = next((at for at, stop in enumerate(stops) if stop), None)
        if first is None or ask.obstacles[first] is not None:
            return None
        option = ask.group.options[first]
        found += [(option.resources[name], amount) for name, amount in ask.amounts_in(option.name)]
    return tuple(found)


@lru_cache(maxsize=4096)
def search_place(resource: ResourceName) -> int:
    """Return the place of a resource in the search: as in Kueue, the FNV-1a hash of its name.

    It decides which resource group is searched first, so which one a refusal names: the search ends
    at the first that has no flavor.
    """
    place = _OFFSET_BASIS
    for byte in resource.encode():
        place = (place ^ byte) * _PRIME & _UINT64_MAX
    return place


Again = frozenset[tuple[int, ResourceName]]
"""(Index of a pod set, resource) of requests by a claim that an earlier pod set is charged for."""


def _named_again(demand: Demand) -> Again:
    """Return the requests by claims that an earlier pod set with pods already uses."""
    seen: set[tuple[str, ResourceName]] = set()
    found = set()
    for number, one in enumerate(demand.pod_sets):
        for ask in one.pod_set.devices:
            if ask.claim and one.count:
                if (ask.claim, ask.resource) in seen:
                    found.add((number, ask.resource))
                seen.add((ask.claim, ask.resource))
    return frozenset(found)


def _party(number: int, pod_set: PodSet) -> str:
    """Return the key of the pod sets that get the same flavors as this one.

    These are those of its group, else those that use the same claim, else this one alone.
    """
    if pod_set.group:
        return f"group {pod_set.group}"
    claim = next((ask.claim for ask in pod_set.devices if ask.claim), "")
    return f"claim {claim}" if claim else f"alone {number}"


def _totals(
    demand: PodSetDemand, number: int, again: Again, *, counts_pods: bool
) -> dict[ResourceName, int]:
    totals = {name: amount * demand.count for name, amount in demand.pod_set.requests.items()}
    for ask in demand.pod_set.devices if again else ():
        if (number, ask.resource) in again:
            totals[ask.resource] = 0
    if counts_pods:
        totals[PODS] = demand.count
    return totals


def _part(
    index: int,
    numbers: Sequence[int],
    demand: Demand,
    totals: Sequence[Mapping[ResourceName, int]],
    rules: tuple[Mapping[ResourceName, CompiledGroup], QuotaCheck, Prices],
) -> PodSetGroup:
    group_of, quota_check, prices = rules
    wanted: dict[ResourceName, int] = {}
    for number in numbers:
        for resource, amount in totals[number].items():
            wanted[resource] = wanted.get(resource, 0) + amount
    asked: dict[int, list[tuple[ResourceName, int]]] = {}
    uncovered = None
    for resource in sorted(wanted, key=search_place):
        group, amount = group_of.get(resource), wanted[resource]
        if group is not None:
            asked.setdefault(group.index, []).append((resource, amount))
        elif amount and quota_check is QuotaCheck.BLOCK_UNDECLARED and uncovered is None:
            uncovered = resource
    groups = {group.index: group for group in group_of.values()}
    pods = [demand.pod_sets[number].pod_set for number in numbers]
    counted = [
        (one, demand.pod_sets[number].count) for one, number in zip(pods, numbers, strict=True)
    ]
    asks = tuple(
        Ask(
            groups[one],
            tuple(amounts),
            tuple(
                _forbidden(demand, option.name)
                or ineligibility(groups[one], option, pods)
                or out_of_devices(groups[one], option, counted)
                for option in groups[one].options
            ),
            _priced(groups[one], amounts, (numbers, totals), prices) if prices else None,
        )
        for one, amounts in asked.items()
    )
    return PodSetGroup(index, tuple(numbers), asks, uncovered)


def _forbidden(demand: Demand, flavor: FlavorName) -> Obstacle | None:
    """Return the obstacle for a flavor that the workload must not get, whoever has room there."""
    allowed = demand.flavors
    return None if allowed is None or flavor in allowed else not_allowed(flavor)


def _prices(
    demand: Demand,
    totals: Sequence[Mapping[ResourceName, int]],
    group_of: Mapping[ResourceName, CompiledGroup],
    again: Again,
) -> Prices:
    """Return what pod sets are charged in flavors with device offers for their shape."""
    found: dict[tuple[int, ResourceName, FlavorName], int] = {}
    for number, one in enumerate(demand.pod_sets):
        for ask in one.pod_set.devices:
            group = group_of.get(ask.resource)
            others = totals[number].get(ask.resource, 0) - ask.units * one.count
            for option in () if group is None else group.options:
                offer = option.flavor.devices.get(ask.shape) if option.flavor else None
                if (number, ask.resource) in again:
                    found[number, ask.resource, option.name] = 0
                elif offer is not None and one.count:
                    found[number, ask.resource, option.name] = others + _charge(offer, one.count)
    return found


def _charge(offer: DeviceOffer, pods: int) -> int:
    """Return what a number of pods is charged for the devices of an offer.

    Those that share them are charged less than one each, or a multiple of their number. A status
    must contain nothing else, so that finished pods can be subtracted in equal parts.
    """
    if not offer.together:
        return offer.amount * pods
    return offer.amount if offer.amount < pods else -(-offer.amount // pods) * pods


def _priced(
    group: CompiledGroup,
    amounts: Iterable[tuple[ResourceName, int]],
    pod_sets: tuple[Sequence[int], Sequence[Mapping[ResourceName, int]]],
    prices: Prices,
) -> dict[FlavorName, Amounts] | None:
    """Return the amounts in each flavor of a group, as the devices there count."""
    numbers, totals = pod_sets

    def total(resource: ResourceName, flavor: FlavorName) -> int:
        return sum(
            prices.get((number, resource, flavor), totals[number].get(resource, 0))
            for number in numbers
        )

    return {
        option.name: tuple((resource, total(resource, option.name)) for resource, _ in amounts)
        for option in group.options
    }
