"""The ledger of one cohort in a quota tree: holdings in, rates of its children out.

It counts usage by what statuses say, at the times that stand in them, and so apart from the tree,
which also holds what is only assumed. Quotas and limits are the tree's.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from queueing.core.credits import bend
from queueing.core.credits.decay import Decay
from queueing.core.credits.facts import CreditPolicyFact, Member
from queueing.core.credits.group import WEIGHT_UNIT, Group, Position, Standing
from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorName, FlavorResource, ResourceName, Uid
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node

CLASS_UNIT = 1000


def member_of(node: Node) -> Member:
    """Name a child of a cohort."""
    return Member("ClusterQueue" if node.is_queue else "Cohort", node.name)


class Book:
    """A cohort's group and the usage of all below it."""

    __slots__ = (
        "_billed",
        "_cells",
        "_usage",
        "children",
        "exponents",
        "grants",
        "group",
        "node",
        "policy",
    )

    def __init__(self, node: Node, policy: CreditPolicyFact, at: int) -> None:
        self.node, self.policy = node, policy
        self.group = Group(at, decay=Decay(policy.half_life_s), debt_limit_s=policy.debt_limit)
        self.children: dict[Member, Node] = {}
        self.exponents: dict[Member, int] = {}
        self.grants: dict[Uid, bool] = {}
        """Grants that were booked, and whether they were taken back."""
        self._usage: dict[tuple[Node, FlavorResource], int] = {}
        self._billed: dict[tuple[Node, FlavorName], tuple[int, int]] = {}
        """What the workloads of a child cost in all, and that times their factors."""
        self._cells: dict[tuple[Node, FlavorName], list[tuple[ResourceName, Cell]]] = {}

    def reshape(self, holdings: Iterable[tuple[Node, Holding]]) -> None:
        """Take over quotas, weights and children as they are now, with these who hold quota."""
        children = sorted(self.node.children(), key=member_of)
        self.children = {member_of(child): child for child in children}
        pools = self._by_flavor({one: self.node.nominal(one) for one in self.node.cells})
        weights = {child: int(child.weight * WEIGHT_UNIT) for child in children}
        whole, pool = sum(weights.values()), sum(pools.values())
        standings = {}
        for member, child in self.children.items():
            own = sum(self._by_flavor({one: child.quota(one) for one in child.cells}).values())
            part = pool * weights[child] // whole if whole else 0
            standings[member] = Standing(weights[child], own + part)
        self.group.reshape(standings, pools)
        self._usage.clear()
        self._billed.clear()
        self._cells.clear()
        for child in children:
            for resource, cell in sorted(child.cells.items()):
                place = self._cells.setdefault((child, resource.flavor), [])
                place.append((resource.resource, cell))
        for queue, holding in holdings:
            self._count(queue, holding, 1)
        for child, flavor in self._cells:
            self._position(child, flavor)

    def book(self, queue: Node, holding: Holding, sign: int) -> None:
        """Count a holding in, or with sign -1 out, from the group's time on."""
        child = self._count(queue, holding, sign)
        for flavor in sorted({one.flavor for one in holding.usage}):
            self._position(child, flavor)

    def measure(self) -> dict[Member, int]:
        """Return by how many steps each child's weight is to be bent now."""
        accounts, policy = self.group.accounts, self.policy
        self.exponents = {
            member: bend.exponent(
                self.group.balance(member),
                entitlement=accounts[member].entitlement,
                horizon_s=policy.horizon_s,
                bound=policy.bound,
            )
            for member in self.children
        }
        return self.exponents

    def _count(self, queue: Node, holding: Holding, sign: int) -> Node:
        """Add to the usage of the nodes from a queue up to the child; return that."""
        child = queue
        while child.parent is not self.node:
            if child.parent is None:
                msg = f"{queue.path()} is not below {self.node.path()}"
                raise ValueError(msg)
            child = child.parent
        for resource, amount in holding.usage.items():
            node, left = queue, sign * amount
            while node is not child and node.parent is not None:
                left = self._add(node, resource, left)
                node = node.parent
            self._add(child, resource, left)
        if self.policy.class_factors:
            factor = self.policy.factor(holding.priority)
            for flavor, cost in self._by_flavor(holding.usage).items():
                plain, weighed = self._billed.get((child, flavor), (0, 0))
                weight = int(cost * factor * CLASS_UNIT)
                self._billed[child, flavor] = plain + sign * cost, weighed + sign * weight
        return child

    def _add(self, node: Node, resource: FlavorResource, amount: int) -> int:
        """Add to a node's usage; return what of it spills over to the parent."""
        before = self._usage.get((node, resource), 0)
        now = self._usage[node, resource] = before + amount
        cell = node.cells.get(resource)
        local = 0 if cell is None else cell.local
        return max(now, local) - max(before, local)

    def _position(self, child: Node, flavor: FlavorName) -> None:
        """Tell the group what a child does in a flavor now: idle = min(quota - usage, limit)."""
        idle: dict[ResourceName, int] = {}
        over: dict[ResourceName, int] = {}
        for resource, cell in self._cells.get((child, flavor), ()):
            usage = self._usage.get((child, FlavorResource(flavor, resource)), 0)
            idle[resource] = max(0, min(cell.quota - usage, cell.quota - cell.local))
            over[resource] = max(0, usage - cell.quota)
        borrowed = self.policy.prices.bill(flavor, over)
        position = Position(
            idle=self.policy.prices.bill(flavor, idle),
            borrowed=borrowed,
            paying=self._cost(child, flavor, borrowed),
        )
        self.group.place(member_of(child), flavor, position)

    def _cost(self, child: Node, flavor: FlavorName, borrowed: int) -> int:
        """Return what borrowing costs: by the mean factor of all that the child runs."""
        plain, weighed = self._billed.get((child, flavor), (0, 0))
        if plain <= 0:
            return borrowed
        return int(Fraction(borrowed * weighed, plain * CLASS_UNIT))

    def _by_flavor(self, amounts: Mapping[FlavorResource, int]) -> dict[FlavorName, int]:
        sums: dict[FlavorName, dict[ResourceName, int]] = {}
        for (flavor, resource), amount in amounts.items():
            sums.setdefault(flavor, {})[resource] = amount
        prices = self.policy.prices
        return {flavor: prices.bill(flavor, one) for flavor, one in sorted(sums.items())}
