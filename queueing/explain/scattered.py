"""Why pods have no place although enough is free: how it is scattered, and whose end would help."""

from collections.abc import Iterator

from queueing.core.entries import Entry
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, Key, ResourceName
from queueing.core.placement.placing import Placing
from queueing.core.quantities import quantity
from queueing.core.topology.nearness import home
from queueing.core.topology.requests import PODS, Requests
from queueing.core.topology.tree import Tree
from queueing.core.topology.usage import places_of
from queueing.core.usage import PodSetDemand
from queueing.explain.remedies import Enough
from queueing.state.memory.memory import Memory

TRIED_MAX = 20
"""So many workloads, the smallest first, are tried as one whose end would make room."""


def scattered(memory: Memory, entry: Entry, pod_set: str, enough: Enough) -> str:
    """Return how what a pod set asks for is spread over nodes; empty where that tells nothing.

    It is about the resource of which least is free, as often as a pod asks for it. `enough` ends
    the search for somebody whose end would help.
    """
    demand = next(one for one in entry.assignment.demand.pod_sets if one.pod_set.name == pod_set)
    given = next(one for one in entry.assignment.pod_sets() if one.name == pod_set)
    flavor = next(filter(memory.tree.forest.has, given.flavors.values()), None)
    pod = demand.pod_set.placeable
    if flavor is None or pod is None:
        return ""
    tree = home(memory.tree.forest.memories(flavor), demand.pod_set.topology).tree
    asked = tuple(one for one in pod.requests if one[1] and one[0] != PODS)
    if not asked or not tree.domains.leaves:
        return ""
    told = [_free(tree, demand, asked)]
    helper = _whose_end_helps(memory, entry, flavor, enough)
    if helper is not None:
        told.append(f"there would be a place if {helper} ended")
    return "; ".join(filter(None, told))


def _free(tree: Tree, demand: PodSetDemand, asked: Requests) -> str:
    """Tell what is free in all, and the most of it in one domain of the level that is asked for."""
    domains = tree.domains
    rooms = {one: _room(tree, one, list(domains.leaves)) for one, _ in asked}
    scarce, _ = min(asked, key=lambda one: rooms[one[0]] / one[1])
    text = f"{quantity(scarce, rooms[scarce])} {scarce} is free"
    request = demand.pod_set.topology
    level = request.required or request.preferred
    if level not in tree.levels:
        return text
    at = tree.levels.index(level)
    most = {
        one: _room(tree, scarce, domains.below(one, len(tree.levels) - 1))
        for one in domains.in_order(at)
    }
    best = max(most, key=most.__getitem__)
    name = ", ".join(domains.path[best][-1:] if at == len(tree.levels) - 1 else domains.path[best])
    where = f"{level.rpartition('/')[2]} ({name})"
    return f"{text}, at most {quantity(scarce, most[best])} of it in one {where}"


def _room(tree: Tree, resource: ResourceName, leaves: list[int]) -> int:
    column = tree.free.get(resource)
    return sum(max(0, column[leaf]) for leaf in leaves) if column else 0


def _whose_end_helps(
    memory: Memory, entry: Entry, flavor: FlavorName, enough: Enough
) -> Key | None:
    """Return the smallest workload without which there would be a place; None if none is found."""
    placing = Placing(entry.rules, memory.tree, memory.settings)
    has_place = placing.condition(entry.assignment)
    if has_place is None:
        return None
    for holder in sorted(_placed(memory, flavor), key=_size)[:TRIED_MAX]:
        if enough():
            return None
        with memory.tree.attempt():
            memory.tree.remove_usage(holder.queue, holder.counted)
            if has_place():
                return holder.key
    return None


def _placed(memory: Memory, flavor: FlavorName) -> Iterator[Holder]:
    """Yield who is placed in a flavor, without those who are leaving: they are gone already."""
    for charge in memory.ledger.charges.values():
        holder = charge.holder
        mine = any(flavor in one.flavors for one in places_of(holder.usage))
        if mine and not holder.evicted:
            yield holder


def _size(holder: Holder) -> tuple[int, Key]:
    return sum(len(one.usage) for one in places_of(holder.usage)), holder.key
