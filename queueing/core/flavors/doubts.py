"""What is told of an assignment beside granting it: pods for which there are no nodes."""

from collections.abc import Iterator

from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.placing import flavors_of, request_of
from queueing.core.topology.forest import Forest
from queueing.core.topology.offers import shortfall


def doubts(answer: Assignment, forest: Forest) -> Iterator[str]:
    """Yield which pod sets the nodes of their flavors could not hold even if they were empty.

    Only flavors are looked at that have no topology and say that all their nodes are there. Each
    pod set is looked at alone.
    """
    for number, one in enumerate(answer.demand.pod_sets):
        for flavor in sorted(flavors_of(answer, number)) if one.count else ():
            offer = forest.offer(flavor)
            if offer is not None:
                told = shortfall(flavor, offer, request_of(one.pod_set, one.count))
                if told:
                    yield told
