"""The topologies of all flavors over the same nodes, and the usage that they share."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from queueing.core.names import FlavorName
from queueing.core.selectors import Toleration
from queueing.core.topology.counts import Memory
from queueing.core.topology.tree import NO_LABELS, Amounts, Journal, Node, Tree, Usage


class Forest:
    """One tree per flavor with a topology.

    Flavors may select the same nodes. If they `overlap`, what is placed by one counts in all whose
    leaves are single nodes; else each tree counts what its own flavor placed.
    """

    def __init__(self, *, overlap: bool = True) -> None:
        self._overlap = overlap
        self._journal = Journal()
        self._memories: dict[FlavorName, Memory] = {}
        self._nodes: dict[str, Node] = {}
        self._others: dict[str, Amounts] = {}

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

        What its workloads use still counts if the leaves are of the same kind as before.
        """
        tree = Tree(
            topology,
            levels,
            node_labels=node_labels,
            tolerations=tolerations,
            journal=self._journal,
        )
        before = self._memories.pop(name, None)
        alike = [before.tree] if before is not None else list(self._beside(tree))
        if alike and alike[0].hosts == tree.hosts:
            tree.copy_usage(alike[0])
        self._memories[name] = Memory(tree)
        for node, usage in self._others.items():
            tree.set_others(node, usage)
        told = {node.name: tree.put_node(node) for node in self._nodes.values()}
        return {node: why for node, why in told.items() if why}

    def drop_flavor(self, name: FlavorName) -> None:
        """Remove a flavor, and what its workloads use if no other flavor counts it."""
        self._memories.pop(name, None)

    def put_node(self, node: Node) -> Mapping[FlavorName, str]:
        """Add or change a node; return the flavors that set it aside, and why."""
        self._nodes[node.name] = node
        told = {name: one.tree.put_node(node) for name, one in self._memories.items()}
        return {name: why for name, why in told.items() if why}

    def drop_node(self, name: str) -> None:
        self._nodes.pop(name, None)
        for one in self._memories.values():
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

    def charge(self, flavor: FlavorName, usage: Usage, sign: int = 1) -> None:
        """Count what a workload uses that is placed in a flavor, or with sign -1 no longer."""
        for tree in self._same_leaves(flavor):
            tree.charge(usage, sign)

    def assume(self, flavor: FlavorName, usage: Usage) -> None:
        """Count what an earlier pod set of the same workload will use; only inside an attempt."""
        for tree in self._same_leaves(flavor):
            tree.assume(usage)

    def attempt(self) -> AbstractContextManager[None]:
        """Return a context that undoes all changes of usage made in it.

        Nodes, pods of others and flavors must not change inside.
        """
        return self._journal

    def _same_leaves(self, flavor: FlavorName) -> list[Tree]:
        tree = self._memories[flavor].tree
        return [tree, *self._beside(tree)]

    def _beside(self, tree: Tree) -> Iterable[Tree]:
        """Return the other trees in which a leaf has the same name as in this one."""
        others = (one.tree for one in self._memories.values() if one.tree is not tree)
        return [one for one in others if self._overlap and tree.hosts and one.hosts]
