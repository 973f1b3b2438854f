"""A ledger: what siblings lend each other, be they children of a cohort or namespaces of a queue.

It counts what each child uses by holdings, at the times that statuses contain. So it has sums of
its own beside those of the quota tree, which include assumed admissions.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from typing_extensions import override

from queueing.core.credits import bend
from queueing.core.credits.decay import Decay
from queueing.core.credits.facts import PART, CreditAccountFact, CreditPolicyFact, Member
from queueing.core.credits.group import SiblingAccounts, SiblingShare
from queueing.core.credits.holding import Holding
from queueing.core.credits.post import Post, ResourceRow
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, Uid
from queueing.core.quota.node import QuotaNode
from queueing.state.credits.account import Account, Numbered, Terms, remaining
from queueing.state.credits.holds import Holds


class Way(NamedTuple):
    """Where a holding counts: in these rows of a child.

    It is not updated when the quota tree changes, because earlier usage counts by the earlier tree;
    the next `reshape` makes new ones.
    """

    member: Member
    rows: dict[FlavorResource, ResourceRow]
    below: tuple[tuple[QuotaNode, Mapping[FlavorResource, int]], ...] = ()
    """The nodes between a queue and the child, from the queue up, and what each never lends."""


def member_of(node: QuotaNode) -> Member:
    """Return the ledger's name of a ClusterQueue or cohort."""
    return Member("ClusterQueue" if node.is_queue else "Cohort", node.name)


class CreditLedger(Account[Terms]):
    """The balances of siblings (`group`), and what each of them uses (`_posts`)."""

    def __init__(
        self, policy: CreditPolicyFact, at: int, stored: CreditAccountFact | None = None
    ) -> None:
        self.policy = policy
        self.group = _group(policy, at)
        self.grants: dict[Uid, bool] = {}
        """Grants that were booked, and whether they were taken back."""
        if stored is not None:
            self.group.resume(stored.children, stored.sinks)
            self.grants |= stored.grants
            self.read_at = at
        self.children: dict[Member, int] = {}
        """Their weights among each other, in millionths."""
        self.newcomers: list[Member] = []
        """Children that came with the last `reshape`."""
        self.exponents: dict[Member, int] = {}
        """By how many steps of `bend` each child's weight is bent."""
        self.holds: Holds | None = None
        self.stirred = False
        """Whether a hold began or ended since the last `measure`."""
        self._posts: dict[tuple[Member, FlavorName], Post] = {}
        self._moved: dict[Post, None] = {}
        """Posts whose usage changed since time last passed."""
        self._usage: dict[tuple[QuotaNode, FlavorResource], int] = {}
        """The usage of nodes below the children."""

    # Time and holdings --------------------------------------------------------------------------

    @override
    def advance(self, to: int) -> None:
        if to > self.group.at:
            self._take_positions()
            self.group.advance(to)

    @override
    def count(self, _token: int, holding: Holding, _when: int, sign: int) -> None:
        way = self._way(holding)
        if way is None:
            return
        rows, moved = way.rows, self._moved
        for resource, amount in holding.usage.items():
            left = sign * amount
            if way.below:
                left = self._spilled(way, resource, left)
            row = rows.get(resource) or self._missing(way, resource)
            if row is not None:
                row.usage += left
                moved[row.post] = None
        if self.policy.class_factors:
            self._bill(way.member, holding, sign)
        if self.holds is not None:
            self.stirred = True
            change = self.holds.begin if sign > 0 else self.holds.end
            change(way.member, holding)

    @override
    def lose(self, holding: Holding, seconds: int, *, was_saved: bool) -> None:
        way = self._way(holding)
        if way is None:
            return
        for flavor, cost in self.policy.prices.by_flavor(holding.usage).items():
            post = self._posts.get((way.member, flavor))
            if post is not None:
                self.group.lose(way.member, cost, seconds)
                if was_saved:  # what was paid for the lost work is given back
                    part = cost, max(cost, post.whole)
                    self.group.refund(way.member, flavor, part, seconds)

    def _spilled(self, way: Way, resource: FlavorResource, amount: int) -> int:
        """Add to the usage of the nodes below a child; return by how much the child's changes.

        As in the quota tree, a node passes on only what exceeds the part that it never lends.
        """
        for node, kept in way.below:
            before = self._usage.get((node, resource), 0)
            now = self._usage[node, resource] = before + amount
            local = kept.get(resource, 0)
            amount = max(now, local) - max(before, local)
        return amount

    def _bill(self, member: Member, holding: Holding, sign: int) -> None:
        """Count what a holding costs, with and without the factor of its priority class."""
        factor = self.policy.factor(holding.priority)
        for flavor, cost in self.policy.prices.by_flavor(holding.usage).items():
            post = self._posts.get((member, flavor))
            if post is not None:
                post.bill(cost, factor, sign)
                self._moved[post] = None

    @abstractmethod
    def _way(self, holding: Holding) -> Way | None:
        """Return where a holding counts; None for nowhere."""

    def _missing(self, _way: Way, _resource: FlavorResource) -> ResourceRow | None:
        """Return a new row for what a child uses without having quota; None: it does not count."""
        return None

    # Structure ----------------------------------------------------------------------------------

    @override
    def close(self) -> None:
        self.group.clear()
        self._moved.clear()
        self.children = {}

    def _begin_anew(self, policy: CreditPolicyFact, children: dict[Member, int]) -> None:
        """Forget all that is used, and take over the policy and the children."""
        if policy != self.policy:
            before = self.group
            self.policy, self.group = policy, _group(policy, before.at)
            self.group.resume(before.records({}, {}), before.sinks)
        self.newcomers = sorted(children.keys() - self.group.present())
        self.children = children
        self._posts.clear()
        self._usage.clear()

    def _post(self, member: Member, flavor: FlavorName) -> Post:
        found = self._posts.get((member, flavor))
        if found is None:
            found = self._posts[member, flavor] = Post(member, flavor, self.policy.prices)
        return found

    def _take_standings(
        self,
        rows: Mapping[Member, Mapping[FlavorResource, ResourceRow]],
        pools: Mapping[FlavorName, int],
    ) -> None:
        """Set what children are entitled to: what their rows are worth, and a part of the pools."""
        whole, pool = sum(self.children.values()), sum(pools.values())
        standings = {}
        for member, weight in self.children.items():
            posts = dict.fromkeys(row.post for row in rows[member].values())
            own = sum(post.entitlement for post in posts)
            standings[member] = SiblingShare(weight, own + (pool * weight // whole if whole else 0))
        self.group.reshape(standings, pools, kept=self._kept(standings))

    def _kept(self, _standings: Mapping[Member, SiblingShare]) -> tuple[int, int] | None:
        """Return the fraction (part, of) kept of surpluses; None: each as its entitlement."""
        return None

    def _count_anew(self, holdings: Iterable[Numbered]) -> None:
        self._moved = dict.fromkeys(self._posts.values())
        for token, holding in holdings:
            self.count(token, holding, self.group.at, 1)
        self._take_positions()

    def _take_positions(self) -> None:
        """Pass the positions that changed on to the group; they count from its time on."""
        for post in self._moved:
            self.group.place(post.member, post.flavor, post.position())
        self._moved.clear()

    # Balances -----------------------------------------------------------------------------------

    def measure(self) -> bool:
        """Compute the exponent of each child's weight by its balance now; say if any changed."""
        before, policy, held = self.exponents, self.policy, self.held()
        self.stirred = False
        self.exponents = {
            member: bend.exponent(
                self.group.balance(member) - PART * held.get(member, 0),
                entitlement=self.group.accounts[member].entitlement,
                horizon_s=policy.horizon_s,
                bound=policy.bound,
            )
            for member in self.children
        }
        return self.exponents != before

    def held(self) -> dict[Member, int]:
        """Return what is held against each child's balance (see `holds`), in micro-credits."""
        if self.holds is None:
            return {}
        self._take_positions()
        at, group = self.group.at, self.group
        return {one: self.holds.of(one, at, group.paying(one)) for one in self.children}

    @override
    def records(self, leavers: Iterable[Holding]) -> Iterator[CreditAccountFact]:
        cohort = self.holder.kind == "Cohort"
        yield CreditAccountFact(
            cohort=CohortName(self.holder.name) if cohort else None,
            queue=None if cohort else QueueName(self.holder.name),
            as_of=self.group.at,
            policy=self.policy.name,
            unit=self.policy.unit,
            children=self.group.records(self.exponents, self.held()),
            sinks=dict(self.group.sinks),
            leavers=remaining(leavers, self.group.at),
            grants=dict(self.grants),
        )


def take_debts_along(ledgers: Sequence[CreditLedger[Any]]) -> None:
    """Move the debts of newcomers from the ledgers in which they were children before."""
    for ledger in ledgers:
        for member in ledger.newcomers:
            for other in ledgers:
                stays = other is ledger or member in other.children
                if not stays and member in other.group.accounts:
                    ledger.group.take_over(member, other.group.hand_over(member))
        ledger.newcomers = []


def _group(policy: CreditPolicyFact, at: int) -> SiblingAccounts:
    return SiblingAccounts(at, decay=Decay(policy.half_life_s), debt_limit_s=policy.debt_limit)
