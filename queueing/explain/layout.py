"""What is free in each domain of a topology, what would fit there, and who sits in it."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from queueing.core.holders import Holder
from queueing.core.names import FlavorName, ResourceName
from queueing.core.quantities import quantity
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.counts import Counts, CountsKey
from queueing.core.topology.domains import ROOT
from queueing.core.topology.requests import PODS, Placeable, Requests, in_order
from queueing.core.topology.tree import Tree
from queueing.core.topology.usage import places_of
from queueing.explain.domain_model import Seat
from queueing.explain.part import AnswerPart
from queueing.state.memory.memory import Memory

CPU = ResourceName("cpu")
_NOT_COUNTED = {PODS, CPU, ResourceName("memory"), ResourceName("ephemeral-storage")}


class Space(AnswerPart, frozen=True, kw_only=True):
    """A domain: a block, a rack, a node."""

    level: str
    name: str
    nodes: int
    free: Mapping[str, str]
    """By resource of the pod that is asked about."""
    room: Mapping[str, str]
    """The same, with what placed workloads use: what other pods leave."""
    fits: int
    """How many such pods fit now."""
    seats: tuple[Seat, ...]
    """Who has pods there, of the lowest level only."""
    domains: tuple["Space", ...]


class Level(AnswerPart, frozen=True, kw_only=True):
    """A level as a whole."""

    name: str
    domains: int
    fits: int
    """How many pods fit into all domains together."""
    most: int
    """How many fit into the best one."""
    best: str
    """Its name, with those of the domains that it is in; empty where nothing fits."""
    fragmentation: float | None
    """The part of what fits that is outside the best domain; null where nothing fits."""


class Layout(AnswerPart, frozen=True, kw_only=True):
    """A flavor's topology."""

    flavor: str
    topology: str
    pod: Mapping[str, str]
    """What one pod asks for."""
    levels: tuple[Level, ...]
    domains: tuple[Space, ...]
    """Those of the first level."""
    set_aside: Mapping[str, str]
    """Nodes with the labels of the flavor that have no domain, and why."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workload with pods in a flavor's topology."""

    holder: Holder
    places: tuple[Occupancy, ...]

    def pods(self, keys: Container[str] | None = None) -> int:
        """Count its pods in some leaves, or in all."""
        return sum(
            amounts.get(PODS, 0)
            for place in self.places
            for key, amounts in place.usage.items()
            if keys is None or key in keys
        )

    def uses(self, key: str, asked: Requests) -> dict[str, str]:
        """Return what its pods in a leaf use of what is asked for."""
        usage = [place.usage.get(key, {}) for place in self.places]
        return {
            resource: quantity(resource, sum(amounts.get(resource, 0) for amounts in usage))
            for resource, _ in asked
        }

    def leaves(self) -> set[str]:
        """Return the leaves in which it has pods."""
        return {
            key
            for place in self.places
            for key, amounts in place.usage.items()
            if amounts.get(PODS, 0)
        }


def flavors_of(memory: Memory) -> list[FlavorName]:
    """Return the flavors that have a topology with levels."""
    return [name for name in sorted(memory.objects.flavors) if memory.tree.forest.has(name)]


def usual_pod(memory: Memory, flavor: FlavorName) -> Requests:
    """Return one unit of what the flavor's nodes are for: a device if they have one, else cpu."""
    offered = memory.tree.forest.tree(flavor).room
    devices = sorted(one for one in offered if one not in _NOT_COUNTED and "/" in one)
    return in_order({devices[0]: 1} if devices else {CPU: 1000})


def counted(
    memory: Memory, flavor: FlavorName, pod: Requests, topology: str | None = None
) -> Counts:
    """Return how many pods with these requests fit where; the flavor's tolerations are theirs."""
    known = memory.tree.forest.memory(flavor, topology)
    levels = known.tree.levels
    shape = CountsKey(
        pod=Placeable(requests=()),
        requests=in_order(dict(pod), pods=1),
        leader=None,
        size=1,
        slice_level=len(levels) - 1,
        inner=(1,) * len(levels),
        empty=False,
        scored=False,
    )
    return known.counts(shape)


def tenants_of(memory: Memory, flavor: FlavorName) -> list[Tenant]:
    """Return who has pods in the leaves of a flavor's topology, by name."""
    found = []
    for queue in sorted(memory.ledger.rolls):
        roll = memory.ledger.rolls[queue]
        held = [one.holder for one in roll.charges.values()]
        for holder in (*held, *roll.promised.values()):
            places = tuple(
                one for one in places_of(holder.usage) if memory.tree.forest.counts_in(flavor, one)
            )
            if places:
                found.append(Tenant(holder, places))
    return sorted(found, key=lambda one: one.holder.key)


def layout_of(
    memory: Memory, flavor: FlavorName, pod: Requests = (), topology: str | None = None
) -> Layout:
    """Describe a topology of a flavor for pods with some requests, by default one device or cpu.

    It is the flavor's own if none is named. Raises KeyError where the flavor has none.
    """
    tree = memory.tree.forest.memory(flavor, topology).tree
    asked = pod or usual_pod(memory, flavor)
    counts = counted(memory, flavor, asked, topology)
    spaces = _Spaces(tree, counts, tenants_of(memory, flavor), asked)
    return Layout(
        flavor=flavor,
        topology=tree.topology,
        pod={resource: quantity(resource, amount) for resource, amount in asked},
        levels=tuple(spaces.levels()),
        domains=tuple(map(spaces.space, spaces.below(ROOT))),
        set_aside={
            one.name: why
            for one in sorted(memory.objects.nodes.values(), key=lambda node: node.name)
            if (why := tree.problem(one)) and _is_meant(tree, one.labels)
        },
    )


def _is_meant(tree: Tree, labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in tree.node_labels.items())


class _Spaces:
    """The domains of one tree, as values."""

    def __init__(self, tree: Tree, counts: Counts, tenants: list[Tenant], asked: Requests) -> None:
        self._tree, self._counts, self._asked = tree, counts, asked
        self._seats: dict[str, list[Seat]] = {}
        for one in tenants:
            for key in sorted({key for place in one.places for key in place.usage}):
                seat = Seat(
                    workload=one.holder.key,
                    cluster_queue=one.holder.queue,
                    priority=one.holder.priority,
                    pods=one.pods({key}),
                    uses=one.uses(key, asked),
                    leaving=not one.holder.runs,
                )
                self._seats.setdefault(key, []).append(seat)

    def below(self, domain: int) -> list[int]:
        domains = self._tree.domains
        return sorted(domains.children[domain], key=domains.place.__getitem__)

    def space(self, domain: int) -> Space:
        tree, leaf = self._tree, self._tree.domains.level[domain] == len(self._tree.levels) - 1
        leaves = tree.domains.below(domain, len(tree.levels) - 1)
        return Space(
            level=tree.levels[tree.domains.level[domain]],
            name=tree.domains.path[domain][-1],
            nodes=sum(map(tree.nodes_in, leaves)),
            free=self._sum(tree.free, leaves),
            room=self._sum(tree.room, leaves),
            fits=self._counts.pods[domain],
            seats=tuple(self._seats.get(tree.key_at(domain), ())) if leaf else (),
            domains=() if leaf else tuple(map(self.space, self.below(domain))),
        )

    def levels(self) -> Iterator[Level]:
        domains, pods = self._tree.domains, self._counts.pods
        for number, name in enumerate(self._tree.levels):
            here = domains.in_order(number)
            fits, most = sum(pods[one] for one in here), max((pods[one] for one in here), default=0)
            best = next((one for one in here if most and pods[one] == most), None)
            yield Level(
                name=name,
                domains=len(here),
                fits=fits,
                most=most,
                best="" if best is None else "/".join(domains.path[best]),
                fragmentation=round(1 - most / fits, 3) if fits else None,
            )

    def _sum(self, columns: Mapping[ResourceName, list[int]], leaves: list[int]) -> dict[str, str]:
        return {
            resource: quantity(
                resource, sum(columns[resource][leaf] for leaf in leaves if resource in columns)
            )
            for resource, _ in self._asked
        }
