"""The tree itself: structure and usage, both changed in place along one path."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact, Quota, ResourceGroup
from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.cell import NO_QUOTA, Cell
from queueing.core.quota.journal import Journal
from queueing.core.quota.node import Node


def quotas_of(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, Quota]:
    """Return the quotas of resource groups by flavor-resource."""
    return {
        FlavorResource(flavor.flavor, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.quotas
    }


class QuotaTree:
    """All queues and cohorts of a cluster: a forest, one tree per root cohort or lone queue."""

    __slots__ = ("_cohorts", "_generation", "_journal", "_queues")

    def __init__(self) -> None:
        self._queues: dict[QueueName, Node] = {}
        self._cohorts: dict[CohortName, Node] = {}
        self._journal = Journal()
        self._generation = 0

    # Structure.

    def put_queue(self, fact: ClusterQueueFact) -> None:
        """Create a queue, or change the quotas, weight and cohort of one; its usage stays."""
        node = self._queues.get(fact.name)
        if node is None:
            node = self._queues[fact.name] = Node(fact.name, is_queue=True)
        self._set_quotas(node, quotas_of(fact.groups))
        node.fact = fact
        node.weigh(fact.fair_weight, fact.fair_divisor)
        self._declare(node, fact.cohort)
        self._touch(node)

    def drop_queue(self, name: QueueName) -> None:
        """Forget a queue and what it uses."""
        node = self._queues.pop(name, None)
        if node is not None:
            self._declare(node, None)

    def put_cohort(self, fact: CohortFact) -> None:
        """Create a cohort object, or change the quotas, weight and parent of one."""
        node = self._cohort(fact.name)
        self._set_quotas(node, quotas_of(fact.groups))
        node.fact = fact
        node.weigh(fact.fair_weight, fact.fair_divisor)
        self._declare(node, fact.parent)
        self._touch(node)

    def drop_cohort(self, name: CohortName) -> None:
        """Forget a cohort object; it stays, without quota or limits, while something names it."""
        node = self._cohorts.get(name)
        if node is None:
            return
        self._set_quotas(node, {})
        node.fact = None
        node.weigh(Fraction(1))
        self._declare(node, None)
        self._touch(node)
        self._forget_if_unnamed(node)

    def bend(self, node: Node, factor: Fraction | None) -> None:
        """Multiply a node's weight by a factor, None for none; shares in its tree change."""
        if node.bend != factor:
            node.bend_by(factor)
            self._touch(node)

    # Questions.

    def queue(self, name: QueueName) -> Node:
        """Return a queue's node; raises KeyError when there is no such queue."""
        return self._queues[name]

    def has_queue(self, name: QueueName) -> bool:
        return name in self._queues

    def cohort(self, name: CohortName) -> Node | None:
        """Return a cohort's node, also of one that exists by being named only."""
        return self._cohorts.get(name)

    def root_cohorts(self) -> Iterator[Node]:
        """Go over the cohorts that have nothing above them, by name."""
        return (one for _, one in sorted(self._cohorts.items()) if one.parent is None)

    def roots(self) -> Iterator[Node]:
        """Go over the tops of all trees: cohorts by name, then queues in no cohort by name."""
        yield from self.root_cohorts()
        yield from (one for _, one in sorted(self._queues.items()) if one.parent is None)

    def queues_of(self, node: Node) -> Iterator[Node]:
        """Go over the queues of a subtree, by name."""
        return iter(sorted(node.queues(), key=lambda queue: queue.name))

    def in_cycle(self, node: Node) -> bool:
        """Say whether the way to the root is a cycle, which disables a queue until broken."""
        return node.root().declared is not None

    # Usage.

    def add_usage(self, queue: QueueName, usage: Mapping[FlavorResource, int]) -> None:
        """Charge usage to a queue and, for what it cannot cover from its own, to its cohorts."""
        node = self._queues[queue]
        for resource, amount in usage.items():
            self.charge(node.cell(resource), amount)

    def remove_usage(self, queue: QueueName, usage: Mapping[FlavorResource, int]) -> None:
        """Take back what `add_usage` charged."""
        node = self._queues[queue]
        for resource, amount in usage.items():
            self.charge(node.cell(resource), -amount)

    def charge(self, cell: Cell, amount: int) -> None:
        """Add an amount, negative to take back, to a queue's cell and along its path."""
        marks, entries = self._journal.marks, self._journal.entries
        above: Cell | None = cell
        while above is not None and amount:
            usage, local = above.usage, above.local
            if marks:
                entries.append((above, usage))
            above.usage = now = usage + amount
            amount = (now if now > local else local) - (usage if usage > local else local)  # noqa: FURB136 - the hottest line; max() costs twice as much
            above = above.parent

    def pretend(self, cell: Cell, usage: int) -> None:
        """Set the usage of one cell and no other; only inside an attempt, which takes it back."""
        self._journal.entries.append((cell, cell.usage))
        cell.usage = usage

    def attempt(self) -> AbstractContextManager[None]:
        """Undo on the way out all usage changed inside. Quotas and structure must stay as is."""
        return self._journal

    def check(self) -> None:
        """Raise AssertionError unless everything equals a tree rebuilt from facts and usage."""
        assert not self._journal.marks, "checked inside an attempt"  # noqa: S101 - an invariant
        fresh = QuotaTree()
        for node in [*self._cohorts.values(), *self._queues.values()]:
            if isinstance(node.fact, ClusterQueueFact):
                fresh.put_queue(node.fact)
                usage = {fr: cell.usage for fr, cell in node.cells.items() if cell.usage}
                fresh.add_usage(node.fact.name, usage)
            elif node.fact is not None:
                fresh.put_cohort(node.fact)
        mine, theirs = self.picture(), fresh.picture()
        assert mine == theirs, f"quota tree drifted: {mine} is not {theirs}"  # noqa: S101

    def picture(self) -> dict[str, object]:
        """Return everything that a decision may depend on, as plain comparable values."""
        return {
            f"{'queue' if node.is_queue else 'cohort'} {node.path()}": (
                node.height,
                (node.weight, node.divisor),
                {
                    fr: (cell.limits, cell.quota, cell.local, cell.usage)
                    for fr, cell in sorted(node.cells.items())
                    if cell.quota or cell.usage or cell.limits != NO_QUOTA
                },
            )
            for node in [*self._cohorts.values(), *self._queues.values()]
        }

    # Inside.

    def _cohort(self, name: CohortName) -> Node:
        node = self._cohorts.get(name)
        if node is None:
            node = self._cohorts[name] = Node(name, is_queue=False)
        return node

    def _touch(self, node: Node) -> None:
        self._generation += 1
        node.root().generation = self._generation

    def _set_quotas(self, node: Node, quotas: Mapping[FlavorResource, Quota]) -> None:
        for resource, limits in quotas.items():
            cell = node.cell(resource)
            if cell.limits != limits:
                cell.set_limits(limits)
        for resource, cell in list(node.cells.items()):
            if resource not in quotas:
                cell.set_limits(NO_QUOTA)
                if node.is_queue and not cell.usage:
                    del node.cells[resource]

    def _declare(self, node: Node, parent: CohortName | None) -> None:
        """Name another parent; links whatever this frees of a cycle, cuts what it closes to one."""
        old, new = node.declared, None if parent is None else self._cohort(parent)
        if old is new:
            return
        freed = _cycle(node)
        self._unlink(node)
        if old is not None:
            del old.members[node]
        node.declared = new
        if new is not None:
            new.members[node] = None
        for member in freed:
            if member is not node:
                self._link(member)
        closed = _cycle(node)
        for member in closed:
            self._unlink(member)
        if not closed:
            self._link(node)
        if old is not None:
            self._forget_if_unnamed(old)

    def _forget_if_unnamed(self, node: Node) -> None:
        if node.fact is None and not node.members:
            self._cohorts.pop(CohortName(node.name), None)

    def _link(self, node: Node) -> None:
        parent = node.declared
        if parent is None:
            return
        node.parent = parent
        for resource, cell in node.cells.items():
            cell.attach(parent.cell(resource))
        if node.height >= parent.height:
            _measure(parent)
        self._touch(node)

    def _unlink(self, node: Node) -> None:
        parent = node.parent
        if parent is None:
            return
        for cell in node.cells.values():
            cell.detach()
        node.parent = None
        _measure(parent)
        self._touch(parent)
        self._touch(node)


def _cycle(node: Node) -> list[Node]:
    """Return the cohorts of the cycle that `node` is part of, none when it is part of none."""
    seen: dict[Node, None] = {}
    above: Node | None = node
    while above is not None and above not in seen:
        seen[above] = None
        above = above.declared
    return list(seen) if above is node else []


def _measure(node: Node) -> None:
    """Bring heights up to date from `node` upwards: the distance to the deepest leaf."""
    above: Node | None = node
    while above is not None:
        height = max((child.height + 1 for child in above.children()), default=0)
        if height == above.height:
            return
        above.height = height
        above = above.parent
