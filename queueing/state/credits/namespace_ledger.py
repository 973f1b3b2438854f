"""The ledger of a ClusterQueue: what the namespaces of its LocalQueues lend each other.

ClusterQueues with admission fair sharing have one if their policy orders LocalQueues; `ranks`
makes the order from it. A namespace whose workloads run on after its last LocalQueue here was
deleted is entitled to nothing, and pays for all that it holds (docs/decisions/0043).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from typing_extensions import override

from queueing.core.credits.facts import (
    CreditAccountFact,
    CreditKind,
    CreditPolicyFact,
    Member,
    Record,
    account_of_queue,
)
from queueing.core.credits.group import SiblingShare
from queueing.core.credits.holding import Holding
from queueing.core.credits.post import NamespaceRow, ResourceRow
from queueing.core.names import FlavorResource, QueueName, namespace_of
from queueing.core.quota.node import QuotaNode
from queueing.state.credits.account import Numbered, Wanted
from queueing.state.credits.ledger import CreditLedger, Way, member_of
from queueing.state.credits.policies import Policies

Sharers = Mapping[QueueName, Mapping[str, int]]
"""ClusterQueue with admission fair sharing → namespace → weight in millionths."""


class QueueTerms(NamedTuple):
    """By what the ledger of a ClusterQueue counts."""

    node: QuotaNode
    policy: CreditPolicyFact
    weights: Mapping[str, int]


class NamespaceLedger(CreditLedger[QueueTerms]):
    """The ledger of one ClusterQueue; its children have weights in millionths."""

    def __init__(self, terms: QueueTerms, at: int, stored: CreditAccountFact | None) -> None:
        super().__init__(terms.policy, at, stored)
        self._ways: dict[Member, Way] = {}

    @override
    def outlives(self, _stored: Record | None) -> bool:
        return True

    @property
    def parts(self) -> dict[str, int]:
        """What each namespace is entitled to, in micro-credits per second."""
        accounts = self.group.accounts
        return {member.name: accounts[member].entitlement for member in self.children}

    @override
    def reshape(self, terms: QueueTerms, holdings: Iterable[Numbered]) -> None:
        node = terms.node
        weights = {_namespace(name): weight for name, weight in sorted(terms.weights.items())}
        self._begin_anew(terms.policy, weights)
        quota = {one: node.nominal(one) for one in sorted(node.cells) if node.nominal(one) > 0}
        whole = sum(weights.values())
        self._ways = {
            member: Way(member, self._parts(member, quota, weight, whole))
            for member, weight in weights.items()
        }
        self._take_standings({one: way.rows for one, way in self._ways.items()}, {})
        self._count_anew(holdings)

    def _parts(
        self, member: Member, quota: Mapping[FlavorResource, int], weight: int, whole: int
    ) -> dict[FlavorResource, ResourceRow]:
        return {
            one: NamespaceRow(self._post(member, one.flavor), one, amount * weight, whole)
            for one, amount in quota.items()
        }

    @override
    def _kept(self, standings: Mapping[Member, SiblingShare]) -> tuple[int, int]:
        accounts = self.group.accounts.values()
        before = sum(one.entitlement for one in accounts if one.departed_at is None)
        after = sum(one.entitlement for one in standings.values())
        rounded_off = len(self.group.accounts) + len(standings)
        return (after, before) if standings and after + rounded_off < before else (1, 1)

    @override
    def _way(self, holding: Holding) -> Way | None:
        if holding.local_queue is None:
            return None
        member = _namespace(namespace_of(holding.local_queue))
        self.group.know(member)  # the account of one that left long ago may be gone again
        return self._ways.setdefault(member, Way(member, {}))

    @override
    def _missing(self, way: Way, resource: FlavorResource) -> ResourceRow:
        found = way.rows[resource] = NamespaceRow(
            self._post(way.member, resource.flavor), resource, 0, 0
        )
        return found


def _namespace(name: str) -> Member:
    return Member("Namespace", name)


def namespace_ledgers(policies: Policies, sharers: Sharers) -> Iterator[Wanted[QueueTerms]]:
    """Yield the ledgers within ClusterQueues that there should be, by name."""
    for node, policy in sorted(policies.divided(), key=lambda one: one[0].name):
        queue = QueueName(node.name)
        if queue in sharers:
            name, terms = account_of_queue(queue), QueueTerms(node, policy, sharers[queue])
            yield Wanted(NamespaceLedger, (CreditKind.ACCOUNT, name), member_of(node), terms)
