"""The topologies of all flavors over the same nodes, and the usage that they share."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from queueing.core.names import FlavorName
from queueing.core.selectors import Toleration
from queueing.core.topology.assignment import HOSTNAME, Occupancy
from queueing.core.topology.counts import MANY, Memory
from queueing.core.topology.tree import (
    NO_LABELS,
    NONE,
    Amounts,
    Journal,
    Node,
    Sums,
    Tree,
    Usage,
    add_at,
)

OfLeaves = dict[tuple[tuple[FlavorName, ...], bool], Sums]
"""(Flavors, whether leaves are single nodes) → what is used of each leaf."""
DevicesOfNode = Mapping[FlavorName, Amounts]
"""Free devices of one node, by the flavor that they serve."""


class Forest:
    """One tree per flavor with a topology.

    Flavors may select the same nodes. If they `overlap`, what is placed by one counts in all whose
    leaves are single nodes; else each tree counts what its own flavor placed. What is charged is
    remembered also where no tree counts it (yet).
    """

    def __init__(self, *, overlap: bool = True, further: bool = True) -> None:
        """With `further` a flavor may have more topologies than the one that Kueue knows.

        And pods of a flavor without any are held against its nodes.
        """
        self._overlap, self._further = overlap, further
        self.journal = Journal()
        """The undo log of all trees."""
        self._memories: dict[FlavorName, Memory] = {}
        self._beside: dict[FlavorName, tuple[Memory, ...]] = {}
        """Further topologies over nodes of a flavor's own one, in the order of preference."""
        self._nodes: dict[str, Node] = {}
        self._others: dict[str, Amounts] = {}
        self._devices: dict[str, DevicesOfNode] = {}
        self._served: dict[FlavorName, Amounts] = {}
        self.offers: dict[FlavorName, Memory] = {}
        """What empty nodes offer, of flavors without a topology that are held against them."""
        self.is_used = False
        """Whether any flavor ever had a topology: else nothing is placed, and nothing to undo."""
        self._charged: OfLeaves = {}
        self._held: OfLeaves = {}

    def serve(self, flavor: FlavorName, devices: Amounts) -> None:
        """Say which resources of a flavor that is put next are devices.

        Of these a node offers what `set_devices` says, and as many more as are given here.
        """
        self._served.pop(flavor, None)
        if devices:
            self._served[flavor] = devices

    def put_flavor(
        self,
        name: FlavorName,
        topology: str,
        levels: tuple[str, ...],
        *,
        node_labels: Mapping[str, str] = NO_LABELS,
        tolerations: tuple[Toleration, ...] = (),
    ) -> Mapping[str, str]:
        """Add or change a flavor; return which nodes are set aside, and why.

        It has no further topologies until it is said which.
        """
        tree = Tree(
            topology,
            levels,
            node_labels=node_labels,
            tolerations=tolerations,
            journal=self.journal,
        )
        tree.devices = self._served.get(name, NONE)
        self._memories[name], self._beside[name] = Memory(tree), ()
        self.is_used = True
        self._fill(name, tree)
        told = {node.name: tree.put_node(node) for node in self._nodes.values()}
        return {node: why for node, why in told.items() if why}

    def put_nearer(self, flavor: FlavorName, topologies: Mapping[str, tuple[str, ...]]) -> None:
        """Give a flavor further topologies, by name: their levels, in the order of preference.

        They share the leaves of the flavor's own one, so that the lowest level of all must be the
        hostname; others are left out.
        """
        own = self._memories[flavor].tree
        trees = [
            Tree(
                name,
                levels,
                node_labels=own.node_labels,
                tolerations=own.tolerations,
                journal=self.journal,
            )
            for name, levels in topologies.items()
            if self._further and own.hosts and levels[-1] == HOSTNAME
        ]
        self._beside[flavor] = tuple(map(Memory, trees))
        for tree in trees:
            tree.devices = own.devices
            self._fill(flavor, tree)
        for node in self._nodes.values() if trees else ():
            self._put_node(flavor, node)

    def _fill(self, flavor: FlavorName, tree: Tree) -> None:
        """Count in a new tree of a flavor what is used of nodes."""
        for (flavors, hosts), usage in self._charged.items():
            if self._counts(flavor, tree, flavors, hosts=hosts):
                tree.charge(usage)
        for node, others in self._others.items():
            tree.set_others(node, others)
        for node, free in self._devices.items():
            tree.set_devices(node, free.get(flavor, NONE))

    def _put_node(self, flavor: FlavorName, node: Node) -> str:
        """Add or change a node of a flavor; what is set aside has no place beside, either."""
        why = self._memories[flavor].tree.put_node(node)
        for one in self._beside[flavor]:
            if why:
                one.tree.drop_node(node.name)
            else:
                one.tree.put_node(node)
        return why

    def drop_flavor(self, name: FlavorName) -> None:
        """Remove a flavor; what its workloads use counts again if it comes back."""
        self._memories.pop(name, None)
        self._beside.pop(name, None)
        self.offers.pop(name, None)

    def put_offer(
        self,
        name: FlavorName,
        *,
        node_labels: Mapping[str, str],
        tolerations: tuple[Toleration, ...],
    ) -> None:
        """Add a flavor without a topology; nothing is ever used of what its nodes offer.

        Nothing is added without `further`: nobody asks whether its nodes could hold pods. Whether
        devices serve them is asked elsewhere, so that these bound nothing here.
        """
        if not self._further:
            return
        tree = Tree("", (HOSTNAME,), node_labels=node_labels, tolerations=tolerations)
        tree.devices = dict.fromkeys(self._served.get(name, NONE), MANY)
        for node in self._nodes.values():
            tree.put_node(node)
        self.offers[name] = Memory(tree)

    def offer(self, flavor: FlavorName) -> Memory | None:
        """Return what the nodes of a flavor without a topology offer; None if that is not asked."""
        return self.offers.get(flavor)

    def put_node(self, node: Node) -> Mapping[FlavorName, str]:
        """Add or change a node; return the flavors that set it aside, and why."""
        self._nodes[node.name] = node
        told = {name: self._put_node(name, node) for name in self._memories}
        for one in self.offers.values():
            one.tree.put_node(node)
        return {name: why for name, why in told.items() if why}

    def drop_node(self, name: str) -> None:
        self._nodes.pop(name, None)
        for tree in self._trees(self._memories):
            tree.drop_node(name)
        for one in self.offers.values():
            one.tree.drop_node(name)

    def set_others(self, node: str, usage: Amounts) -> bool:
        """Say what pods on a node use that no topology placed, among it `pods`; True if less."""
        before = self._others.pop(node, NONE)
        if usage:
            self._others[node] = usage
        for tree in self._trees(self._memories):
            tree.set_others(node, usage)
        return any(usage.get(one, 0) < was for one, was in before.items())

    def set_devices(self, node: str, free: DevicesOfNode) -> bool:
        """Say which devices of a node's own are free, as others leave them; True if more are."""
        before = self._devices.pop(node, {})
        if free:
            self._devices[node] = free
        for name in self._memories:
            for one in self.memories(name):
                one.tree.set_devices(node, free.get(name, NONE))
        return any(
            amount > before.get(flavor, NONE).get(one, 0)
            for flavor, amounts in free.items()
            for one, amount in amounts.items()
        )

    def memory(self, flavor: FlavorName, topology: str | None = None) -> Memory:
        """Return tree and counts of one of a flavor's topologies, by default of its own.

        Raises KeyError if it has no such topology.
        """
        if topology is None:
            return self._memories[flavor]
        return {one.tree.topology: one for one in self.memories(flavor)}[topology]

    def memories(self, flavor: FlavorName) -> tuple[Memory, ...]:
        """Return a flavor's trees and counts: its own topology, then the further ones in order."""
        return self._memories[flavor], *self._beside[flavor]

    def levels(self, flavor: FlavorName) -> tuple[str, ...]:
        """Return the levels that pods may ask for in a flavor."""
        named = (level for one in self.memories(flavor) for level in one.tree.levels)
        return tuple(dict.fromkeys(named))

    def has(self, flavor: FlavorName) -> bool:
        return flavor in self._memories

    def tree(self, flavor: FlavorName) -> Tree:
        """Return a flavor's tree; raises KeyError if it has no topology."""
        return self._memories[flavor].tree

    def charge(self, one: Occupancy, sign: int = 1) -> None:
        """Count what a workload uses that is placed, or with sign -1 no longer."""
        self._sum(self._charged, one, sign)
        self.journal.note(partial(self._sum, self._charged, one, -sign))
        for tree in self._trees(self._counting(one.flavors, hosts=one.hosts)):
            tree.charge(one.usage, sign)

    def hold(self, one: Occupancy, sign: int = 1) -> None:
        """Count what a placed workload holds now, or with sign -1 no longer.

        It differs from what is charged where victims are leaving, or places are promised. It is not
        undone at the end of an attempt.
        """
        self._sum(self._held, one, sign)

    def has_room(self, one: Occupancy, *, now: bool = False) -> bool:
        """Say whether leaves have room for one more; `now`: in what nobody holds at present."""
        name = next((name for name in one.flavors if name in self._memories), None)
        if name is None:
            return False
        tree = self._memories[name].tree
        if not now:
            return tree.has_room(one.usage)
        held: Sums = {}
        for (flavors, hosts), usage in self._held.items():
            if self._counts(name, tree, flavors, hosts=hosts):
                for key in one.usage.keys() & usage.keys():
                    add_at(held, key, usage[key])
        return tree.has_room(one.usage, held)

    def is_overdrawn(self, one: Occupancy) -> bool:
        """Say whether leaves of what is charged are gone, or have less than is charged there."""
        name = next((name for name in one.flavors if name in self._memories), None)
        return name is None or self._memories[name].tree.is_overdrawn(one.usage)

    def assume(self, flavor: FlavorName, usage: Usage) -> None:
        """Count what an earlier pod set of the same workload will use; only inside an attempt."""
        hosts = self._memories[flavor].tree.hosts
        for tree in self._trees(self._counting((flavor,), hosts=hosts)):
            tree.assume(usage)

    def attempt(self) -> Journal:
        """Return a context that undoes all changes of what is charged that are made in it.

        Nodes, pods of others and flavors must not change inside.
        """
        return self.journal

    def counts_in(self, flavor: FlavorName, one: Occupancy) -> bool:
        """Say whether what is placed counts in a flavor's tree; it does not if there is none."""
        memory = self._memories.get(flavor)
        return memory is not None and self._counts(
            flavor, memory.tree, one.flavors, hosts=one.hosts
        )

    def flavors_at(self, one: Occupancy) -> set[FlavorName]:
        """Return the flavors in whose trees what is placed counts, and has a leaf."""
        return {
            name
            for name in self._counting(one.flavors, hosts=one.hosts)
            if not one.usage.keys().isdisjoint(self._memories[name].tree.domains.leaf_of)
        }

    def leaves_of(self, node: str) -> set[str]:
        """Return the keys of the leaves that a node belongs to; none if it has no place."""
        found = self._nodes.get(node)
        trees = [one.tree for one in self._memories.values()]
        return {one.key_of(found) for one in trees if found and not one.problem(found)}

    def picture(self) -> Mapping[str, OfLeaves]:
        """Return what is charged and held, for invariants."""
        return {"charged": self._charged, "held": self._held}

    def _trees(self, flavors: Iterable[FlavorName]) -> Iterator[Tree]:
        for name in flavors:
            yield from (one.tree for one in self.memories(name))

    def _counting(self, flavors: Iterable[FlavorName], *, hosts: bool) -> list[FlavorName]:
        """Return the flavors whose trees count what is placed in the leaves of some flavors."""
        return [
            name
            for name, one in self._memories.items()
            if self._counts(name, one.tree, flavors, hosts=hosts)
        ]

    def _counts(
        self, name: FlavorName, tree: Tree, flavors: Iterable[FlavorName], *, hosts: bool
    ) -> bool:
        """Say whether a flavor's tree counts what is placed in the leaves of other flavors."""
        return tree.hosts is hosts and (name in flavors or (hosts and self._overlap))

    def _sum(self, to: OfLeaves, one: Occupancy, sign: int) -> None:
        leaves = to.setdefault((one.flavors, one.hosts), {})
        for key, amounts in one.usage.items():
            add_at(leaves, key, amounts, sign)
        if not leaves:
            del to[one.flavors, one.hosts]
