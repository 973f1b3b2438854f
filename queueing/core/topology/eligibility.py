"""Which leaves may hold pods of one kind, as far as their nodes say; kept along with the nodes."""

from collections import Counter

from queueing.core.names import ResourceName
from queueing.core.selectors import Requirement, Taint, meets, untolerated
from queueing.core.topology.requests import Placeable, Term
from queueing.core.topology.tree import Node, Tree

NAME = "metadata.name"


def matches(term: Term, node: Node) -> bool:
    """Say whether a node meets all requirements of a term, of which there must be some."""
    labels = all(meets(one, node.labels) for one in term.labels)
    return bool(term.labels or term.fields) and labels and _names(term.fields, node)


def _names(fields: tuple[Requirement, ...], node: Node) -> bool:
    return all(meets(one, {NAME: node.name}) for one in fields)


def spelled(taint: Taint) -> str:
    """Return a taint as it is told of."""
    value = f"={taint.value}" if taint.value else ""
    return f'taint "{taint.key}{value}:{taint.effect}"'


def lacking(resource: ResourceName) -> str:
    """Return how it is told that not even one pod fits, for want of a resource."""
    return f'resource "{resource}"'


class Eligibility:
    """What keeps pods of one kind from each leaf, and how much they prefer it.

    Where leaves are not single nodes, nothing of this is looked at.
    """

    def __init__(self, tree: Tree, pod: Placeable) -> None:
        self._tree, self._pod = tree, pod
        self._seen, self._epoch = 0, -1
        self.obstacle: list[str] = []
        """By domain; empty for what is open."""
        self.score: list[int] = []
        """By domain: the sum of the weights of all preferences that its node meets."""
        self.counts: Counter[str] = Counter()
        """How many leaves each obstacle closes."""

    def refresh(self) -> None:
        """Look again at the leaves whose nodes changed."""
        tree, domains = self._tree, self._tree.domains
        touched = tree.node_changes.since(self._seen) if self._epoch == tree.epoch else None
        self._seen = tree.node_changes.end
        if touched is None:
            self._epoch = tree.epoch
            self.obstacle, self.score, self.counts = [], [], Counter()
            touched = list(domains.leaves)
        missing = len(domains) - len(self.obstacle)
        self.obstacle += [""] * missing
        self.score += [0] * missing
        for leaf in touched if tree.hosts else ():
            before = self.obstacle[leaf]
            node = tree.node_of(leaf) if leaf in domains.leaves else None
            now = self.obstacle[leaf] = self._obstacle(node) if node else ""
            self.score[leaf] = self._score(node) if node else 0
            if before != now:
                self.counts[before] -= 1
                self.counts[now] += 1

    def told(self) -> Counter[str]:
        """Return how many leaves are closed, by obstacle."""
        return Counter({one: count for one, count in self.counts.items() if one and count})

    def _obstacle(self, node: Node) -> str:
        pod = self._pod
        if node.taints:
            taint = untolerated(node.taints, (*pod.tolerations, *self._tree.tolerations))
            if taint is not None:
                return spelled(taint)
        if any(node.labels.get(key) != value for key, value in pod.node_selector):
            return "nodeSelector"
        if pod.affinity is not None and not any(matches(one, node) for one in pod.affinity):
            return "affinity"
        return ""

    def _score(self, node: Node) -> int:
        return sum(weight for weight, term in self._pod.preferences if matches(term, node))
