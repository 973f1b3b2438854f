"""The racks and nodes of a flavor, a part at a time: of 50,000 nodes somebody sees fifty."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest

from queueing.core.holders import Holder
from queueing.core.names import FlavorName, ResourceName
from queueing.core.quantities import quantity
from queueing.core.topology.domains import ROOT
from queueing.core.topology.requests import PODS
from queueing.core.topology.tree import Tree
from queueing.explain.domain_model import Domain, ResourceFlavorExplanation, Seat
from queueing.explain.layout import Tenant, counted, flavors_of, tenants_of, usual_pod
from queueing.state.memory.memory import Memory

DOMAINS_MAX = 500
SEATS_MAX = 10

_Sits = tuple[int, Holder, dict[ResourceName, int]]
"""How many pods, below zero, so that most come first; whose; and what those use."""


def explain_flavors(memory: Memory) -> ResourceFlavorExplanation:
    """Name the flavors that have a topology."""
    return ResourceFlavorExplanation(
        flavors=tuple(flavors_of(memory)),
        name="",
        topologies=(),
        topology="",
        levels=(),
        domain=(),
        pod={},
        offset=0,
        in_all=0,
        domains=(),
    )


def explain_flavor(
    memory: Memory,
    flavor: FlavorName,
    path: tuple[str, ...],
    window: tuple[int, int],
    topology: str,
) -> ResourceFlavorExplanation | None:
    """Tell of the domains just below one; None where the flavor has no topology, or not this one.

    `path` is the domain with those that it is in, the widest first; `window` the first of those
    below it and how many; `topology` one of the flavor's, empty for its own.
    """
    forest = memory.tree.forest
    if not forest.has(flavor):
        return None
    trees = {one.tree.topology: one.tree for one in forest.memories(flavor)}
    tree = trees.get(topology or forest.tree(flavor).topology)
    above = None if tree is None else _found(tree, path)
    if tree is None or above is None:
        return None
    domains, pod = tree.domains, usual_pod(memory, flavor)
    below = sorted(domains.children[above], key=domains.place.__getitem__)
    offset = window[0]
    shown = below[offset : offset + min(window[1], DOMAINS_MAX)]
    leaves = {one: domains.below(one, len(tree.levels) - 1) for one in shown}
    resources = [resource for resource, _ in pod]
    sitting = _sitting(tree, leaves, tenants_of(memory, flavor), resources)
    fits = counted(memory, flavor, pod, tree.topology).pods
    return ResourceFlavorExplanation(
        flavors=tuple(flavors_of(memory)),
        name=flavor,
        topologies=tuple(trees),
        topology=tree.topology,
        levels=tree.levels,
        domain=path,
        pod={resource: quantity(resource, amount) for resource, amount in pod},
        offset=offset,
        in_all=len(below),
        domains=tuple(
            Domain(
                name=domains.path[one][-1],
                nodes=len(leaves[one]) if tree.hosts else sum(map(tree.nodes_in, leaves[one])),
                free=_sums(tree.free, resources, leaves[one]),
                room=_sums(tree.room, resources, leaves[one]),
                fits=fits[one],
                seats=_seats(sitting[one]),
                seats_in_all=len(sitting[one]),
            )
            for one in shown
        ),
    )


def _found(tree: Tree, path: tuple[str, ...]) -> int | None:
    """Return the domain at a path, if it has others below it."""
    if len(path) >= len(tree.levels):
        return None
    at = ROOT
    for depth in range(len(path)):
        wanted = path[: depth + 1]
        below = tree.domains.children[at]
        found = next((one for one in below if tree.domains.path[one] == wanted), None)
        if found is None:
            return None
        at = found
    return at


def _sitting(
    tree: Tree,
    leaves: Mapping[int, Sequence[int]],
    tenants: Sequence[Tenant],
    resources: Sequence[ResourceName],
) -> Mapping[int, Sequence[_Sits]]:
    """Return who has pods in some domains, by their leaves, how many, and what they use."""
    summed = (PODS, *resources)
    domain_of = {leaf: one for one, of_it in leaves.items() for leaf in of_it}
    leaf_of = tree.domains.leaf_of
    found: dict[int, list[_Sits]] = {one: [] for one in leaves}
    for tenant in tenants:
        uses: dict[int, dict[ResourceName, int]] = {}
        for place in tenant.places:
            for key, amounts in place.usage.items():
                domain = domain_of.get(leaf_of.get(key, ROOT))
                if domain is not None:
                    used = uses.setdefault(domain, dict.fromkeys(summed, 0))
                    for resource in summed:
                        used[resource] += amounts.get(resource, 0)
        for domain, used in uses.items():
            found[domain].append((-used.pop(PODS), tenant.holder, used))
    return found


def _seats(sitting: Sequence[_Sits]) -> tuple[Seat, ...]:
    """Return those with most pods."""
    first = nsmallest(SEATS_MAX, sitting, key=lambda one: (one[0], one[1].key))
    return tuple(
        Seat(
            workload=holder.key,
            cluster_queue=holder.queue,
            priority=holder.priority,
            pods=-many,
            uses={resource: quantity(resource, amount) for resource, amount in used.items()},
            leaving=not holder.runs,
        )
        for many, holder, used in first
    )


def _sums(
    columns: Mapping[ResourceName, Sequence[int]],
    resources: Sequence[ResourceName],
    leaves: Sequence[int],
) -> dict[str, str]:
    return {
        resource: quantity(resource, sum(map(columns[resource].__getitem__, leaves)))
        if resource in columns
        else "0"
        for resource in resources
    }
