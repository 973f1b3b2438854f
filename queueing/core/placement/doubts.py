"""What is told of an admission beside granting it: pods for which there are no nodes."""

from collections.abc import Iterable, Iterator

from queueing.core.facts import PodSet, PodSetAssignment
from queueing.core.placement.placing import request_of
from queueing.core.topology.forest import Forest
from queueing.core.topology.offers import shortfall


def doubts(
    pod_sets: Iterable[PodSet], held: Iterable[PodSetAssignment], forest: Forest
) -> Iterator[str]:
    """Yield which pod sets the nodes of their flavors could not hold even if they were empty.

    Only flavors are looked at that have no topology and say that all their nodes are there. Each
    pod set is looked at alone.
    """
    asked = {one.name: one for one in pod_sets}
    for one in held:
        for flavor in sorted(set(one.flavors.values())) if one.count and one.name in asked else ():
            offer = forest.offer(flavor)
            if offer is not None:
                told = shortfall(flavor, offer, request_of(asked[one.name], one.count))
                if told:
                    yield told
