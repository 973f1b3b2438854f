"""Whether places that were chosen for pods are free still, after what earlier entries took."""

from collections.abc import Iterable, Mapping

from queueing.core.names import FlavorResource
from queueing.core.preemption.query import Target
from queueing.core.topology.forest import Forest
from queueing.core.topology.usage import joined, places_of, without_pods


def has_room(
    usage: Mapping[FlavorResource, int], forest: Forest, *, as_kueue: bool, now: bool = False
) -> bool:
    """Say whether the leaves that pods were given have room.

    As Kueue counts, the number of pods on a node is not looked at.
    """
    places = places_of(usage)
    if places:
        places = [without_pods(one) for one in places] if as_kueue else joined(places)
    return all(forest.has_room(one, now=now) for one in places)


def is_taken(targets: Iterable[Target], forest: Forest) -> bool:
    """Say whether others took what is to be kept for those who would be moved."""
    kept = (one.elsewhere for one in targets if one.elsewhere is not None)
    return any(forest.is_overdrawn(place) for usage in kept for place in places_of(usage))
