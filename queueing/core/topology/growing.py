"""Places of a slice that replaces another one of an elastic job: pods that run stay."""

from dataclasses import replace

from queueing.core.topology.assignment import Assignment, Unplaced
from queueing.core.topology.counts import Memory
from queueing.core.topology.requests import PodSetRequest
from queueing.core.topology.searching import Placed, SearchTerms, merged, search
from queueing.core.topology.tree import Tree


def stays(memory: Memory, workers: PodSetRequest, leader: PodSetRequest | None) -> bool:
    """Say whether pods keep the places of the slice before.

    They do not if any of these is gone, or if those of pods that must be together are not.
    """
    for one in (workers.kept, workers.kept if leader is None else leader.kept):
        leaves = memory.tree.domains.leaf_of
        if one is None or not all(here.key in leaves for here in one.domains):
            return False
        if (level := workers.topology.required) and _domain_of(memory.tree, one, level) is None:
            return False
    return True


def grown(
    memory: Memory, workers: PodSetRequest, leader: PodSetRequest | None, terms: SearchTerms
) -> Placed | Unplaced:
    """Return the places that pods keep, and find others for as many as there are more now.

    Pods that require a level stay in their domain of it, and those that prefer one do if they can.
    Pods may be kept more places than they are, if it is not known which of them ended before. What
    is kept must be counted as used.
    """
    led = None if leader is None else leader.kept
    kept = workers.kept or Assignment((), ())
    more = workers.count - kept.count
    if more <= 0:
        return Placed(kept.any_of(workers.count), led)
    asked, new = workers.topology, replace(workers, count=more)
    own = _domain_of(memory.tree, kept, asked.required or asked.preferred)
    found = search(memory, new, None, terms, own)
    if isinstance(found, Unplaced) and own is not None and not asked.required:
        found = search(memory, new, None, terms)
    if isinstance(found, Unplaced):
        return found
    return Placed(merged(memory.tree, kept.domains, found.workers.domains), led)


def _domain_of(tree: Tree, kept: Assignment, level: str | None) -> int | None:
    """Return the domain of a level that all these places are in; None if there is none."""
    if level not in tree.levels:
        return None
    at, leaf_of = tree.levels.index(level), tree.domains.leaf_of
    found = {tree.domains.above(leaf_of[one.key], at) for one in kept.domains}
    return found.pop() if len(found) == 1 else None
