"""What a workload is charged whose pods are placed by topology: quota, and room in leaves."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from queueing.core.names import FlavorName, FlavorResource
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.requests import PODS
from queueing.core.topology.tree import Sums, add_at


class PlacedUsage(dict[FlavorResource, int]):
    """Usage of quota that also has `places`: what the pods use of the leaves of topologies.

    The quota tree charges both at once, so whoever adds, removes or tries usage need not know
    whether pods are placed.
    """

    __slots__ = ("places",)

    def __init__(self, usage: Mapping[FlavorResource, int], places: Sequence[Occupancy]) -> None:
        super().__init__(usage)
        self.places = tuple(places)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, PlacedUsage):
            return self.places == other.places and super().__eq__(other)
        return not self.places and super().__eq__(other)

    @override
    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


def places_of(usage: Mapping[FlavorResource, int]) -> Sequence[Occupancy]:
    """Return what usage takes of leaves; nothing for workloads that are not placed."""
    return usage.places if isinstance(usage, PlacedUsage) else ()


def joined(places: Sequence[Occupancy]) -> Sequence[Occupancy]:
    """Return what pod sets use of the same leaves as one: there may be room for each, not for all.

    Kueue asks for each alone.
    """
    if len(places) <= 1:
        return places
    found: dict[tuple[tuple[FlavorName, ...], bool], Sums] = {}
    for one in places:
        sums = found.setdefault((one.flavors, one.hosts), {})
        for key, amounts in one.usage.items():
            add_at(sums, key, amounts)
    return [Occupancy(flavors, hosts, usage) for (flavors, hosts), usage in found.items()]


def beyond(places: Sequence[Occupancy], before: Sequence[Occupancy]) -> Sequence[Occupancy]:
    """Return what is used of leaves in addition to what was used of them before."""
    if not before:
        return places
    had = {(one.flavors, one.hosts): one.usage for one in joined(before)}
    found: list[Occupancy] = []
    for one in joined(places):
        usage = {key: dict(amounts) for key, amounts in one.usage.items()}
        for key, amounts in had.get((one.flavors, one.hosts), {}).items():
            for resource in usage.get(key, {}).keys() & amounts.keys():
                usage[key][resource] = max(0, usage[key][resource] - amounts[resource])
        left = {key: more for key, more in usage.items() if any(more.values())}
        found += [Occupancy(one.flavors, one.hosts, left)] if left else []
    return found


def placed(
    usage: Mapping[FlavorResource, int], places: Sequence[Occupancy]
) -> Mapping[FlavorResource, int]:
    """Return usage with places, or the same if there are none."""
    return PlacedUsage(usage, places) if places else usage


def without_places(usage: Mapping[FlavorResource, int]) -> Mapping[FlavorResource, int]:
    """Return the same usage of quota alone."""
    return dict(usage) if isinstance(usage, PlacedUsage) else usage


def without_pods(one: Occupancy) -> Occupancy:
    """Return the same without the number of pods."""
    usage = {
        key: {resource: amount for resource, amount in amounts.items() if resource != PODS}
        for key, amounts in one.usage.items()
    }
    return Occupancy(one.flavors, hosts=one.hosts, usage=usage)
