"""The racks and nodes of a flavor, a part at a time: of 50,000 nodes somebody sees fifty."""

from collections import Counter
from collections.abc import Mapping, Sequence

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

Seats = Mapping[int, Sequence[Seat]]
"""By the number of the domain."""


def explain_flavors(memory: Memory) -> ResourceFlavorExplanation:
    """Name the flavors that have a topology."""
    return ResourceFlavorExplanation(
        flavors=tuple(flavors_of(memory)),
        name="",
        topology="",
        levels=(),
        domain=(),
        pod={},
        offset=0,
        in_all=0,
        domains=(),
    )


def explain_flavor(
    memory: Memory, flavor: FlavorName, path: tuple[str, ...], window: tuple[int, int]
) -> ResourceFlavorExplanation | None:
    """Tell of the domains just below one; None where the flavor has no topology, or not this one.

    `path` is the domain with those that it is in, the widest first; `window` the first of those
    below it and how many.
    """
    forest = memory.tree.forest
    if not forest.has(flavor):
        return None
    tree = forest.tree(flavor)
    above = _found(tree, path)
    if above is None:
        return None
    domains, pod = tree.domains, usual_pod(memory, flavor)
    below = sorted(domains.children[above], key=domains.place.__getitem__)
    offset = window[0]
    shown = below[offset : offset + min(window[1], DOMAINS_MAX)]
    leaves = {one: domains.below(one, len(tree.levels) - 1) for one in shown}
    seats = _seats(tree, leaves, tenants_of(memory, flavor))
    fits = counted(memory, flavor, pod).pods
    resources = [resource for resource, _ in pod]
    return ResourceFlavorExplanation(
        flavors=tuple(flavors_of(memory)),
        name=flavor,
        topology=tree.topology,
        levels=tree.levels,
        domain=path,
        pod={resource: quantity(resource, amount) for resource, amount in pod},
        offset=offset,
        in_all=len(below),
        domains=tuple(
            Domain(
                name=domains.path[one][-1],
                nodes=sum(map(tree.nodes_in, leaves[one])),
                free=_sums(tree.free, resources, leaves[one]),
                room=_sums(tree.room, resources, leaves[one]),
                fits=fits[one],
                seats=tuple(seats.get(one, ())[:SEATS_MAX]),
                seats_in_all=len(seats.get(one, ())),
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


def _seats(tree: Tree, leaves: Mapping[int, Sequence[int]], tenants: Sequence[Tenant]) -> Seats:
    """Return who has pods in some domains, by their leaves; those with most pods first."""
    domain_of = {leaf: one for one, of_it in leaves.items() for leaf in of_it}
    leaf_of = tree.domains.leaf_of
    found: dict[int, list[Seat]] = {}
    for tenant in tenants:
        pods = Counter[int]()
        for place in tenant.places:
            for key, amounts in place.usage.items():
                domain = domain_of.get(leaf_of.get(key, ROOT))
                if domain is not None:
                    pods[domain] += amounts.get(PODS, 0)
        for domain, many in pods.items():
            seat = Seat(
                workload=tenant.holder.key,
                cluster_queue=tenant.holder.queue,
                priority=tenant.holder.priority,
                pods=many,
                leaving=not tenant.holder.runs,
            )
            found.setdefault(domain, []).append(seat)
    for seats in found.values():
        seats.sort(key=lambda one: (-one.pods, one.workload))
    return found


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
