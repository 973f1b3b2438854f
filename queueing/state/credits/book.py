"""The ledger of one cohort in a quota tree: from holdings to what its children lend and borrow.

It counts usage by holdings, at the times that statuses contain. So it has sums of its own beside
those of the quota tree, which include assumed admissions. Quotas and limits are the tree's.
"""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.credits import bend
from queueing.core.credits.classes import ClassMix
from queueing.core.credits.decay import Decay
from queueing.core.credits.facts import PART, CreditPolicyFact, Member
from queueing.core.credits.group import WEIGHT_UNIT, Group, Loss, Position, Standing
from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorName, FlavorResource, Uid
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.state.credits.holds import Holds


class Row:
    """One flavor-resource of one child: its price and quota, and the usage of the child's subtree.

    `local` is the part of the quota that is never lent; `price` is micro-credits per second for
    `per` of the units that amounts count in. Quotas are those of the last `reshape`, so that usage
    until a change of quotas counts by the earlier ones.
    """

    __slots__ = ("local", "per", "post", "price", "quota", "usage")

    def __init__(self, post: "Post", cell: Cell, price: int, per: int) -> None:
        self.post, self.price, self.per = post, price, per
        self.quota, self.local = cell.quota, cell.local
        self.usage = 0


class Post:
    """The usage of one child in one flavor: a row for each of its resources."""

    __slots__ = ("classes", "flavor", "member", "rows")

    def __init__(self, member: Member, flavor: FlavorName) -> None:
        self.member, self.flavor = member, flavor
        self.rows: dict[FlavorResource, Row] = {}
        self.classes = ClassMix()
        """The priority classes of the child's workloads; counted only if classes have factors."""


class Way(NamedTuple):
    """The path from a queue up to the cohort's child above it, which may be the queue itself.

    It is not updated when the tree changes, because earlier usage counts by the earlier tree; the
    next `reshape` makes new ones.
    """

    child: Node
    rows: Mapping[FlavorResource, Row]
    below: tuple[tuple[Node, Mapping[FlavorResource, int]], ...]
    """The nodes below the child, from the queue up, and what each of them never lends."""


def member_of(node: Node) -> Member:
    """Return the ledger's name of a ClusterQueue or cohort."""
    return Member("ClusterQueue" if node.is_queue else "Cohort", node.name)


class Book:
    """The ledger (`group`) of a cohort's children, and the usage of their subtrees."""

    __slots__ = (
        "_holds",
        "_posts",
        "_rows",
        "_usage",
        "asks_more",
        "children",
        "exponents",
        "grants",
        "group",
        "moved",
        "node",
        "policy",
        "read_at",
        "stirred",
    )

    def __init__(self, node: Node, policy: CreditPolicyFact, at: int) -> None:
        self.node, self.policy = node, policy
        self.group = Group(at, decay=Decay(policy.half_life_s), debt_limit_s=policy.debt_limit)
        self.children: dict[Member, Node] = {}
        self.exponents: dict[Member, int] = {}
        self.grants: dict[Uid, bool] = {}
        """Grants that were booked, and whether they were taken back."""
        self.read_at = -1
        """The time of the stored account that this was resumed from: it includes all until then."""
        self.stirred = False
        """Whether a hold began or ended since the last `measure`."""
        self.asks_more = bool(policy.class_factors or policy.admission_hold_s)
        """Whether it needs more of a holding than its usage: its class, or its hold."""
        self._holds = Holds(policy.admission_hold_s) if policy.admission_hold_s else None
        self._usage: dict[tuple[Node, FlavorResource], int] = {}
        """The usage of nodes below the children."""
        self._posts: dict[tuple[Node, FlavorName], Post] = {}
        self._rows: dict[Node, dict[FlavorResource, Row]] = {}
        self.moved: dict[Post, None] = {}
        """Posts whose usage changed since time last passed."""

    def advance(self, to: int) -> None:
        """Let time pass up to `to`, after all changes at the present time took effect."""
        if to > self.group.at:
            self.take_positions()
            self.group.advance(to)

    def reshape(self) -> None:
        """Take over the present quotas, weights and children.

        The caller counts all holdings anew afterwards, and then calls `take_positions`.
        """
        self.children = dict(sorted((member_of(one), one) for one in self.node.children()))
        pools = self._by_flavor({one: self.node.nominal(one) for one in self.node.cells})
        weights = {one: int(one.weight * WEIGHT_UNIT) for one in self.children.values()}
        whole, pool = sum(weights.values()), sum(pools.values())
        standings = {}
        for member, child in self.children.items():
            quota = {resource: cell.quota for resource, cell in child.cells.items()}
            own = sum(self._by_flavor(quota).values())
            part = pool * weights[child] // whole if whole else 0
            standings[member] = Standing(weights[child], own + part)
        self.group.reshape(standings, pools)
        self._usage.clear()
        self._posts.clear()
        self._rows.clear()
        self.moved.clear()
        if self._holds is not None:
            self._holds.clear()
        for member, child in self.children.items():
            rows = self._rows[child] = {}
            for resource, cell in sorted(child.cells.items()):
                post = self._posts.get((child, resource.flavor))
                if post is None:
                    post = self._posts[child, resource.flavor] = Post(member, resource.flavor)
                price, per = self.policy.prices.rate(resource.flavor, resource.resource)
                rows[resource] = post.rows[resource] = Row(post, cell, price, per)
        self.moved = dict.fromkeys(self._posts.values())

    def measure(self) -> dict[Member, int]:
        """Return the exponent of each child's weight by its balance now, in steps of `bend`."""
        accounts, policy, held = self.group.accounts, self.policy, self.held()
        self.stirred = False
        self.exponents = {
            member: bend.exponent(
                self.group.balance(member) - PART * held.get(member, 0),
                entitlement=accounts[member].entitlement,
                horizon_s=policy.horizon_s,
                bound=policy.bound,
            )
            for member in self.children
        }
        return self.exponents

    def held(self) -> dict[Member, int]:
        """Return what is held against each child's balance (see `holds`), in micro-credits."""
        if self._holds is None:
            return {}
        self.take_positions()
        at, group = self.group.at, self.group
        return {one: self._holds.of(one, at, group.paying(one)) for one in self.children}

    def count(self, way: Way, holding: Holding, sign: int) -> None:
        """Add a holding from the group's time on, or with sign -1 remove it."""
        child, rows, below = way
        moved = self.moved
        for resource, amount in holding.usage.items():
            left = sign * amount
            if below:
                left = self._spilled(below, resource, left)
            row = rows.get(resource)
            if row is not None:
                row.usage += left
                moved[row.post] = None
        if self.asks_more:
            self._ask_more(child, holding, sign)

    def lose(self, way: Way, holding: Holding, when: int, saved: int | None) -> None:
        """Note an eviction at `when`: the work since it was `saved`, or all of it, is lost.

        If it was saved, what was paid for the lost work is given back, for `REFUND_S` at most.
        """
        if when <= self.read_at:
            return
        self.advance(when)
        child = way.child
        seconds = max(0, when - holding.unsaved_since(when, saved))
        for flavor, cost in self._by_flavor(holding.usage).items():
            post = self._posts.get((child, flavor))
            if post is None:
                continue
            used = {resource.resource: row.usage for resource, row in post.rows.items()}
            loss = Loss(
                cost=cost,
                whole=max(cost, self.policy.prices.bill(flavor, used)),
                seconds=seconds,
                was_saved=saved is not None,
            )
            self.group.lose(post.member, flavor, loss)

    def way_of(self, queue: Node) -> Way:
        """Return the way of a queue below the cohort; called right after a `reshape`."""
        below: list[tuple[Node, Mapping[FlavorResource, int]]] = []
        child, parent = queue, queue.parent
        while parent is not self.node:
            if parent is None:
                msg = f"{queue.path()} is not below {self.node.path()}"
                raise ValueError(msg)
            below.append((child, {one: cell.local for one, cell in child.cells.items()}))
            child, parent = parent, parent.parent
        return Way(child, self._rows[child], tuple(below))

    def _spilled(
        self,
        below: tuple[tuple[Node, Mapping[FlavorResource, int]], ...],
        resource: FlavorResource,
        amount: int,
    ) -> int:
        """Add to the usage of the nodes below a child; return by how much the child's changes.

        As in the quota tree, a node passes on only what exceeds the part that it never lends.
        """
        for node, kept in below:
            before = self._usage.get((node, resource), 0)
            now = self._usage[node, resource] = before + amount
            local = kept.get(resource, 0)
            amount = max(now, local) - max(before, local)
        return amount

    def _ask_more(self, child: Node, holding: Holding, sign: int) -> None:
        if self.policy.class_factors:
            self._bill(child, holding, sign)
        if self._holds is not None:
            self._hold(self._holds, member_of(child), holding, sign)

    def _bill(self, child: Node, holding: Holding, sign: int) -> None:
        """Count what a holding costs, with and without the factor of its priority class."""
        factor = self.policy.factor(holding.priority)
        for flavor, cost in self._by_flavor(holding.usage).items():
            post = self._posts.get((child, flavor))
            if post is not None:
                post.classes.add(cost, factor, sign)
                self.moved[post] = None

    def _hold(self, holds: Holds, child: Member, holding: Holding, sign: int) -> None:
        """Begin the hold of a workload, or with sign -1 end it."""
        self.stirred = True
        if sign > 0:
            factor = self.policy.factor(holding.priority)
            costs = self._by_flavor(holding.usage).items()
            holds.begin(child, holding, [(flavor, int(cost * factor)) for flavor, cost in costs])
        else:
            holds.end(child, holding)

    def take_positions(self) -> None:
        """Pass the positions that changed on to the group; they count from its time on."""
        for post in self.moved:
            self._position(post)
        self.moved.clear()

    def _position(self, post: Post) -> None:
        """Set what a child lends and borrows in a flavor now.

        Per resource, idle = quota - max(usage, local), and borrowed = usage - quota, each at least
        0 and priced. Of a flavor's resources the dearest counts, or all if prices add up.
        """
        sums = self.policy.prices.add_up
        idle = borrowed = 0
        for row in post.rows.values():
            quota, usage = row.quota, row.usage
            if usage > quota:
                over = row.price * (usage - quota) // row.per
                borrowed = borrowed + over if sums else max(borrowed, over)
            else:
                least = usage if usage > row.local else row.local  # noqa: FURB136 - spares a call
                free = row.price * (quota - least) // row.per if quota > least else 0
                idle = idle + free if sums else max(idle, free)
        paying = post.classes.paying(borrowed) if self.policy.class_factors else borrowed
        position = Position(idle, borrowed, paying)
        self.group.place(post.member, post.flavor, position)

    def _by_flavor(self, amounts: Mapping[FlavorResource, int]) -> dict[FlavorName, int]:
        return self.policy.prices.by_flavor(amounts)
