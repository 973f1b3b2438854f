"""The topologies of all flavors over the same nodes, and the usage that they share."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain

from queueing.core.names import FlavorName
from queueing.core.selectors import Toleration
from queueing.core.topology.assignment import HOSTNAME, Occupancy
from queueing.core.topology.counts import Memory
from queueing.core.topology.tree import (
    NO_LABELS,
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


class Forest:
    """One tree per flavor with a topology.

    Flavors may select the same nodes. If they `overlap`, what is placed by one counts in all whose
    leaves are single nodes; else each tree counts what its own flavor placed. What is charged is
    remembered also where no tree counts it (yet).
    """

    def __init__(self, *, overlap: bool = True) -> None:
        self._overlap = overlap
        self.journal = Journal()
        """The undo log of all trees."""
        self._memories: dict[FlavorName, Memory] = {}
        self._nodes: dict[str, Node] = {}
        self._others: dict[str, Amounts] = {}
        self._offers: dict[FlavorName, Memory] = {}
        """What empty nodes offer, of flavors without a topology that are held against them."""
        self.is_used = False
        """Whether any flavor ever had a topology: else nothing is placed, and nothing to undo."""
        self._charged: OfLeaves = {}
        self._held: OfLeaves = {}

    def put_flavor(
        self,
        name: FlavorName,
        topology: str,
        levels: tuple[str, ...],
        *,
        node_labels: Mapping[str, str] = NO_LABELS,
        tolerations: tuple[Toleration, ...] = (),
    ) -> Mapping[str, str]:
        """Add or change a flavor; return which nodes are set aside, and why."""
        tree = Tree(
            topology,
            levels,
            node_labels=node_labels,
            tolerations=tolerations,
            journal=self.journal,
        )
        for (flavors, hosts), usage in self._charged.items():
            if self._counts(name, tree, flavors, hosts=hosts):
                tree.charge(usage)
        self._memories[name] = Memory(tree)
        self.is_used = True
        for node, others in self._others.items():
            tree.set_others(node, others)
        told = {node.name: tree.put_node(node) for node in self._nodes.values()}
        return {node: why for node, why in told.items() if why}

    def drop_flavor(self, name: FlavorName) -> None:
        """Remove a flavor; what its workloads use counts again if it comes back."""
        self._memories.pop(name, None)
        self._offers.pop(name, None)

    def put_offer(
        self,
        name: FlavorName,
        *,
        node_labels: Mapping[str, str],
        tolerations: tuple[Toleration, ...],
    ) -> None:
        """Add a flavor without a topology; nothing is ever used of what its nodes offer."""
        tree = Tree("", (HOSTNAME,), node_labels=node_labels, tolerations=tolerations)
        for node in self._nodes.values():
            tree.put_node(node)
        self._offers[name] = Memory(tree)

    def offer(self, flavor: FlavorName) -> Memory | None:
        """Return what the nodes of a flavor without a topology offer; None if that is not asked."""
        return self._offers.get(flavor)

    def put_node(self, node: Node) -> Mapping[FlavorName, str]:
        """Add or change a node; return the flavors that set it aside, and why."""
        self._nodes[node.name] = node
        told = {name: one.tree.put_node(node) for name, one in self._memories.items()}
        for one in self._offers.values():
            one.tree.put_node(node)
        return {name: why for name, why in told.items() if why}

    def drop_node(self, name: str) -> None:
        self._nodes.pop(name, None)
        for one in chain(self._memories.values(), self._offers.values()):
            one.tree.drop_node(name)

    def set_others(self, node: str, usage: Amounts) -> None:
        """Say what pods on a node use that no topology placed, among it `pods`."""
        self._others.pop(node, None)
        if usage:
            self._others[node] = usage
        for one in self._memories.values():
            one.tree.set_others(node, usage)

    def memory(self, flavor: FlavorName) -> Memory:
        """Return a flavor's tree and counts; raises KeyError if it has no topology."""
        return self._memories[flavor]

    def has(self, flavor: FlavorName) -> bool:
        return flavor in self._memories

    def tree(self, flavor: FlavorName) -> Tree:
        """Return a flavor's tree; raises KeyError if it has no topology."""
        return self._memories[flavor].tree

    def charge(self, one: Occupancy, sign: int = 1) -> None:
        """Count what a workload uses that is placed, or with sign -1 no longer."""
        self._sum(self._charged, one, sign)
        self.journal.note(partial(self._sum, self._charged, one, -sign))
        for name, memory in self._memories.items():
            if self._counts(name, memory.tree, one.flavors, hosts=one.hosts):
                memory.tree.charge(one.usage, sign)

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
        for name, memory in self._memories.items():
            if self._counts(name, memory.tree, (flavor,), hosts=hosts):
                memory.tree.assume(usage)

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
            for name, memory in self._memories.items()
            if self._counts(name, memory.tree, one.flavors, hosts=one.hosts)
            and not one.usage.keys().isdisjoint(memory.tree.domains.leaf_of)
        }

    def leaves_of(self, node: str) -> set[str]:
        """Return the keys of the leaves that a node belongs to; none if it has no place."""
        found = self._nodes.get(node)
        trees = [one.tree for one in self._memories.values()]
        return {one.key_of(found) for one in trees if found and not one.problem(found)}

    def picture(self) -> Mapping[str, OfLeaves]:
        """Return what is charged and held, for invariants."""
        return {"charged": self._charged, "held": self._held}

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
