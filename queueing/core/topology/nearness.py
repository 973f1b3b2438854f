"""Several topologies over the nodes of one flavor: in which of them pods get their place.

A flavor has the topology that Kueue knows, and may have further ones that say where nodes are
nearer to each other: NVLink domains that are no level of racks and blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from queueing.core.topology.assignment import Unplaced
from queueing.core.topology.counts import Memory
from queueing.core.topology.requests import PodSetRequest, TopologyRequest
from queueing.core.topology.searching import Placed, SearchTerms, search


def home(memories: Sequence[Memory], wanted: TopologyRequest) -> Memory:
    """Return the first topology that has all levels asked for; the first of all if none has."""
    if len(memories) == 1:
        return memories[0]
    return next((one for one in memories if wanted.named <= set(one.tree.levels)), memories[0])


def nearest(
    memories: Sequence[Memory],
    workers: PodSetRequest,
    leader: PodSetRequest | None,
    terms: SearchTerms,
) -> Placed | Unplaced:
    """Find domains for a pod set in the topologies of a flavor, of which the first is its own.

    Pods that prefer a level would be as near as possible. So each further topology in turn is asked
    for one domain that holds them all, and then for what they ask. Those that require a level get
    it from the topology that has it.
    """
    for memory, nearer in _nearer(memories[1:], workers):
        found = search(memory, nearer, leader, terms)
        if isinstance(found, Placed):
            return found
    return search(home(memories, workers.topology), workers, leader, terms)


def _nearer(
    further: Sequence[Memory], wanted: PodSetRequest
) -> Iterator[tuple[Memory, PodSetRequest]]:
    for memory in further if wanted.topology.preferred else ():
        for level in memory.tree.levels[-2:-1]:
            near = replace(wanted.topology, required=level, preferred=None)
            yield memory, replace(wanted, topology=near)
