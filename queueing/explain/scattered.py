"""Why pods have no place although enough is free: how it is scattered, and whose end would help."""

from collections.abc import Iterator, Sequence

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

    `enough` ends the search for somebody whose end would help.
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
    spread = _Spread(tree, demand, asked)
    helper = _whose_end_helps(memory, entry, flavor, enough, spread)
    return "; ".join(filter(None, (spread.free(), helper)))


class _Spread:
    """What is free in each domain of the level asked for, or in all nodes if none is.

    It is about the resource of which least is free, as often as a pod asks for it.
    """

    def __init__(self, tree: Tree, demand: PodSetDemand, asked: Requests) -> None:
        leaves = list(tree.domains.leaves)
        rooms = {one: _room(tree, one, leaves) for one, _ in asked}
        level = demand.pod_set.topology.required or demand.pod_set.topology.preferred
        self._resource, _ = min(asked, key=lambda one: rooms[one[0]] / one[1])
        self._tree, self._all = tree, rooms[self._resource]
        self._level = tree.levels.index(level) if level in tree.levels else -1
        self._rooms = self._now()

    def free(self) -> str:
        """Tell what is free in all, and the most of it in one domain."""
        text = f"{self._amount(self._all)} {self._resource} is free"
        if self._level < 0:
            return text
        best = max(self._rooms, key=self._rooms.__getitem__)
        most = self._amount(self._rooms[best])
        return f"{text}, at most {most} of it in one {self._named(best)}"

    def came_free(self) -> str:
        """Tell how much more is free now in the domain, of those with more, that has most of it."""
        now = self._now()
        best = max(
            (one for one in now if now[one] > self._rooms[one]), key=now.__getitem__, default=None
        )
        if best is None:
            return ""
        more = self._amount(now[best] - self._rooms[best])
        return f"{more} would come free in {self._named(best)}"

    def _now(self) -> dict[int, int]:
        tree, last = self._tree, len(self._tree.levels) - 1
        each = tree.domains.in_order(self._level)
        return {one: _room(tree, self._resource, tree.domains.below(one, last)) for one in each}

    def _named(self, domain: int) -> str:
        if self._level < 0:
            return "all"
        level, path = self._tree.levels[self._level], self._tree.domains.path[domain]
        name = path[-1] if self._level == len(self._tree.levels) - 1 else ", ".join(path)
        return f"{level.rpartition('/')[2]} ({name})"

    def _amount(self, amount: int) -> str:
        return quantity(self._resource, amount)


def _room(tree: Tree, resource: ResourceName, leaves: Sequence[int]) -> int:
    column = tree.free.get(resource)
    return sum(max(0, column[leaf]) for leaf in leaves) if column else 0


def _whose_end_helps(
    memory: Memory, entry: Entry, flavor: FlavorName, enough: Enough, spread: _Spread
) -> str:
    """Tell of the smallest workload without which there would be a place; empty if none is found.

    And how much would come free where.
    """
    placing = Placing(entry.rules, memory.tree, memory.settings)
    has_place = placing.condition(entry.assignment)
    if has_place is None:
        return ""
    for holder in sorted(_placed(memory, flavor), key=_size)[:TRIED_MAX]:
        if enough():
            return ""
        with memory.tree.attempt():
            memory.tree.remove_usage(holder.queue, holder.counted)
            if has_place():
                more = spread.came_free()
                return f"there would be a place if {holder.key} ended{': ' * bool(more)}{more}"
    return ""


def _placed(memory: Memory, flavor: FlavorName) -> Iterator[Holder]:
    """Yield who is placed in a flavor, without those who are leaving: they are gone already."""
    for charge in memory.ledger.charges.values():
        holder = charge.holder
        mine = any(flavor in one.flavors for one in places_of(holder.usage))
        if mine and not holder.evicted:
            yield holder


def _size(holder: Holder) -> tuple[int, Key]:
    return sum(len(one.usage) for one in places_of(holder.usage)), holder.key
