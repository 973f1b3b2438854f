"""Places of a slice that replaces another one of an elastic job: pods that run stay."""

from dataclasses import replace

from queueing.core.topology.assignment import Assignment, Unplaced
from queueing.core.topology.counts import Memory
from queueing.core.topology.requests import PodSetRequest
from queueing.core.topology.searching import Placed, Terms, merged, search


def stays(memory: Memory, workers: PodSetRequest, leader: PodSetRequest | None) -> bool:
    """Say whether pods keep the places of the slice before; not if any of these is gone."""
    kept = [one.kept for one in (workers, leader) if one is not None]
    return all(
        one is not None and all(here.key in memory.tree.domains.leaf_of for here in one.domains)
        for one in kept
    )


def grown(
    memory: Memory, workers: PodSetRequest, leader: PodSetRequest | None, terms: Terms
) -> Placed | Unplaced:
    """Return the places that pods keep, and find others for as many as there are more now.

    Pods may be kept more places than they are, if it is not known which of them ended before. What
    is kept must be counted as used.
    """
    led = None if leader is None else leader.kept
    kept = workers.kept or Assignment((), ())
    more = workers.count - kept.count
    if more <= 0:
        return Placed(kept.any_of(workers.count), led)
    found = search(memory, replace(workers, count=more), None, terms)
    if isinstance(found, Unplaced):
        return found
    return Placed(merged(memory.tree, kept.domains, found.workers.domains), led)
