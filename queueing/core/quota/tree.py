"""The forest of all queues and cohorts; structure and usage are changed in place."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.flavor_quotas import Quota, ResourceGroup
from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.node import Cell, QuotaNode
from queueing.core.topology.forest import Forest
from queueing.core.topology.usage import PlacedUsage, places_of


def quotas_of(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, Quota]:
    """Return the quotas of resource groups by flavor-resource."""
    return {
        FlavorResource(flavor.flavor, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.quotas
    }


class _Journal:
    """The undo log of usage: a context manager that may be nested.

    While it has `marks`, a cell and its usage are added to `entries` before that usage is changed.
    """

    __slots__ = ("entries", "forest", "marks")

    def __init__(self, forest: Forest) -> None:
        self.entries: list[tuple[Cell, int]] = []
        self.marks: list[int] = []
        self.forest = forest

    def __enter__(self) -> None:
        self.marks.append(len(self.entries))
        if self.forest.is_used:
            self.forest.journal.__enter__()

    def __exit__(self, *_: object) -> None:
        if self.forest.is_used:
            self.forest.journal.__exit__()
        mark, entries = self.marks.pop(), self.entries
        while len(entries) > mark:
            cell, usage = entries.pop()
            cell.usage = usage


class QuotaTree:
    """All queues and cohorts of a cluster: one tree per root cohort, or queue without a cohort.

    Usage of workloads whose pods are placed is charged to the `forest` of nodes as well.
    """

    __slots__ = ("_cohorts", "_generation", "_journal", "_queues", "forest", "queue")

    def __init__(self, forest: Forest | None = None) -> None:
        self._queues: dict[QueueName, QuotaNode] = {}
        self.queue = self._queues.__getitem__
        """Returns a queue's node; raises KeyError if there is no such queue."""
        self._cohorts: dict[CohortName, QuotaNode] = {}
        self.forest = forest or Forest()
        self._journal = _Journal(self.forest)
        self._generation = 0

    # Structure.

    def put_queue(self, fact: ClusterQueueFact) -> None:
        """Create a queue, or change its quotas, weight and cohort; its usage stays."""
        node = self._queues.get(fact.name)
        if node is None:
            node = self._queues[fact.name] = QuotaNode(fact.name, is_queue=True)
        self._put(node, fact, fact.cohort)

    def drop_queue(self, name: QueueName) -> None:
        """Remove a queue and its usage, but for the places of its pods."""
        node = self._queues.pop(name, None)
        if node is not None:
            self._declare(node, None)

    def put_cohort(self, fact: CohortFact) -> None:
        """Create a cohort, or change its quotas, weight and parent."""
        self._put(self._cohort(fact.name), fact, fact.parent)

    def drop_cohort(self, name: CohortName) -> None:
        """Remove a cohort object. The node stays, without quota, while anything names it."""
        node = self._cohorts.get(name)
        if node is None:
            return
        self._set_quotas(node, {})
        node.fact = None
        node.weigh(Fraction(1))
        self._declare(node, None)
        self._touch(node)
        self._forget_if_unnamed(node)

    def bend(self, node: QuotaNode, factor: Fraction | None) -> None:
        """Set the factor by which credits multiply a node's weight; None for no factor."""
        if node.bend != factor:
            node.bend_by(factor)
            self._touch(node)

    # Questions.

    def has_queue(self, name: QueueName) -> bool:
        return name in self._queues

    def cohort(self, name: CohortName) -> QuotaNode | None:
        """Return a cohort's node, also of a cohort that is only named; None if there is none."""
        return self._cohorts.get(name)

    def roots(self) -> Iterator[QuotaNode]:
        """Yield the roots of all trees: cohorts by name, then queues in no cohort by name."""
        yield from (one for _, one in sorted(self._cohorts.items()) if one.parent is None)
        yield from (one for _, one in sorted(self._queues.items()) if one.parent is None)

    def queues_of(self, node: QuotaNode) -> Iterator[QuotaNode]:
        """Yield the queues of a subtree, by name."""
        return iter(sorted(node.queues(), key=lambda queue: queue.name))

    def in_cycle(self, node: QuotaNode) -> bool:
        """Say whether a node is in or below a cycle of cohorts, which makes queues inactive."""
        return node.root.declared is not None

    # Usage.

    def add_usage(
        self, queue: QueueName, usage: Mapping[FlavorResource, int], sign: int = 1
    ) -> None:
        """Charge usage to a queue and, beyond what it never lends, to the cohorts above it.

        With sign -1 that is undone. Of a queue that does not exist only places are charged: its
        pods are where they are.
        """
        node = self._queues.get(queue)
        if node is not None:
            for resource, amount in usage.items():
                self.charge(node.cells.get(resource) or node.cell(resource), sign * amount)
        if usage.__class__ is PlacedUsage:
            for one in places_of(usage):
                self.forest.charge(one, sign)

    def remove_usage(self, queue: QueueName, usage: Mapping[FlavorResource, int]) -> None:
        self.add_usage(queue, usage, -1)

    def charge(self, cell: Cell, amount: int) -> None:
        """Add an amount, which may be negative, to a queue's cell and the cells above it."""
        marks, entries = self._journal.marks, self._journal.entries
        above: Cell | None = cell
        while above is not None and amount:
            usage, local = above.usage, above.local
            if marks:
                entries.append((above, usage))
            above.usage = now = usage + amount
            amount = (now if now > local else local) - (usage if usage > local else local)  # noqa: FURB136 - the hottest line; max() costs twice as much
            above = above.parent

    def hold(self, queue: QueueName, usage: Mapping[FlavorResource, int], sign: int = 1) -> None:
        """Add to what a queue's workloads hold now, or with sign -1 remove it: `Cell.held`."""
        node = self._queues.get(queue)
        if node is not None:
            for resource, amount in usage.items():
                self._hold(node.cell(resource), sign * amount)
        if usage.__class__ is PlacedUsage:
            for one in places_of(usage):
                self.forest.hold(one, sign)

    @staticmethod
    def _hold(cell: Cell, amount: int) -> None:
        above: Cell | None = cell
        while above is not None and amount:
            before, local = above.held, above.local
            above.held = now = before + amount
            amount = (now if now > local else local) - (before if before > local else local)  # noqa: FURB136 - as in `charge`
            above = above.parent

    def attempt(self) -> AbstractContextManager[None]:
        """Return a context that undoes all changes of usage made in it.

        Quotas and structure must not be changed inside.
        """
        return self._journal

    # Inside.

    def _cohort(self, name: CohortName) -> QuotaNode:
        node = self._cohorts.get(name)
        if node is None:
            node = self._cohorts[name] = QuotaNode(name, is_queue=False)
        return node

    def _put(
        self, node: QuotaNode, fact: ClusterQueueFact | CohortFact, parent: CohortName | None
    ) -> None:
        self._set_quotas(node, quotas_of(fact.groups))
        node.fact = fact
        node.weigh(fact.fair_weight, fact.fair_divisor)
        self._declare(node, parent)
        self._touch(node)

    def _touch(self, node: QuotaNode) -> None:
        self._generation += 1
        node.root.generation = self._generation

    def _set_quotas(self, node: QuotaNode, quotas: Mapping[FlavorResource, Quota]) -> None:
        for resource, limits in quotas.items():
            cell = node.cell(resource)
            if not cell.is_listed or cell.limits != limits:
                cell.set_limits(limits)
        for resource, cell in list(node.cells.items()):
            if resource not in quotas:
                cell.set_limits(None)
                if node.is_queue and not cell.usage and not cell.held:
                    del node.cells[resource]

    def _declare(self, node: QuotaNode, parent: CohortName | None) -> None:
        """Set the declared parent of a node.

        Cohorts of a cycle that this breaks are linked to their parents; those of a cycle that it
        closes are unlinked.
        """
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

    def _forget_if_unnamed(self, node: QuotaNode) -> None:
        if node.fact is None and not node.members:
            self._cohorts.pop(CohortName(node.name), None)

    def _link(self, node: QuotaNode) -> None:
        parent = node.declared
        if parent is None:
            return
        node.parent = parent
        _set_root(node, parent.root)
        for resource, cell in node.cells.items():
            cell.attach(parent.cell(resource))
        if node.height >= parent.height:
            _measure(parent)
        self._touch(node)

    def _unlink(self, node: QuotaNode) -> None:
        parent = node.parent
        if parent is None:
            return
        for cell in node.cells.values():
            cell.detach()
        node.parent = None
        _set_root(node, node)
        _measure(parent)
        self._touch(parent)
        self._touch(node)


def _cycle(node: QuotaNode) -> list[QuotaNode]:
    """Return the cohorts of the cycle that `node` is part of; empty if it is in none."""
    seen: dict[QuotaNode, None] = {}
    above: QuotaNode | None = node
    while above is not None and above not in seen:
        seen[above] = None
        above = above.declared
    return list(seen) if above is node else []


def _set_root(node: QuotaNode, root: QuotaNode) -> None:
    for one in node.subtree():
        one.root = root


def _measure(node: QuotaNode) -> None:
    """Update heights (the distance to the deepest leaf) from `node` upwards."""
    above: QuotaNode | None = node
    while above is not None:
        height = max((child.height + 1 for child in above.children()), default=0)
        if height == above.height:
            return
        above.height = height
        above = above.parent
