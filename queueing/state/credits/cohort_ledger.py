"""The ledger of a cohort: what its children, queues and cohorts, lend each other.

Quotas and limits are those of the quota tree. Balances bend the children's weights there.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from typing_extensions import override

from queueing.core.credits import bend
from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import (
    PART,
    CreditAccountFact,
    CreditKind,
    CreditPolicyFact,
    Member,
)
from queueing.core.credits.group import WEIGHT_UNIT
from queueing.core.credits.holding import Holding
from queueing.core.credits.post import ResourceRow
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.account import Numbered, Wanted
from queueing.state.credits.agenda import Give
from queueing.state.credits.holds import Holds
from queueing.state.credits.ledger import CreditLedger, Way, member_of
from queueing.state.credits.policies import Policies


class CohortTerms(NamedTuple):
    """By what the ledger of a cohort counts."""

    tree: QuotaTree
    node: QuotaNode
    policy: CreditPolicyFact


class CohortLedger(CreditLedger[CohortTerms]):
    """The ledger of one cohort. A holding counts in those of all cohorts above its queue."""

    def __init__(self, terms: CohortTerms, at: int, stored: CreditAccountFact | None) -> None:
        super().__init__(terms.policy, at, stored)
        self._tree = terms.tree
        self._nodes: dict[Member, QuotaNode] = {}
        self._ways: dict[QueueName, Way] = {}

    @override
    def close(self) -> None:
        self._unbend()
        super().close()

    @override
    def reshape(self, terms: CohortTerms, holdings: Iterable[Numbered]) -> None:
        self._unbend()
        _, node, policy = terms
        self._nodes = dict(sorted((member_of(one), one) for one in node.children()))
        weights = {one: int(child.weight * WEIGHT_UNIT) for one, child in self._nodes.items()}
        self._begin_anew(policy, weights)
        self.holds = Holds(policy) if policy.admission_hold_s else None
        rows = {member: self._rows(member, child) for member, child in self._nodes.items()}
        pools = policy.prices.by_flavor({one: node.nominal(one) for one in node.cells})
        self._take_standings(rows, pools)
        self._ways = {QueueName(queue.name): _way(queue, node, rows) for queue in node.queues()}
        self._count_anew(holdings)

    def bend(self) -> None:
        """Bend the weights of all children by their exponents."""
        for member, steps in self.exponents.items():
            self._tree.bend(self._nodes[member], bend.factor(steps) if steps else None)

    def _unbend(self) -> None:
        for child in self._nodes.values():
            self._tree.bend(child, None)
        self.exponents = {}

    def book(self, given: Give) -> None:
        """Book a grant, or take back what decay left of it; each only once.

        It concerns only the ledger of which its receiver is a child.
        """
        grant, expired = given
        if grant.receiver not in self.children:
            return
        booked = self.grants.get(grant.uid)
        if not expired and booked is None:
            self.group.give(grant.receiver, grant.amount * PART)
            self.grants[grant.uid] = False
        elif expired and booked is False and grant.expires_at is not None:
            kept = Decay(self.policy.half_life_s).kept_after(grant.expires_at - grant.at)
            self.group.take_back(grant.receiver, shrink(grant.amount * PART, kept))
            self.grants[grant.uid] = True

    @override
    def _way(self, holding: Holding) -> Way | None:
        return self._ways.get(holding.queue)

    def _rows(self, member: Member, child: QuotaNode) -> dict[FlavorResource, ResourceRow]:
        return {
            resource: ResourceRow(
                self._post(member, resource.flavor), resource, quota=cell.quota, local=cell.local
            )
            for resource, cell in sorted(child.cells.items())
        }


def _way(
    queue: QuotaNode, cohort: QuotaNode, rows: Mapping[Member, dict[FlavorResource, ResourceRow]]
) -> Way:
    """Return where holdings of a queue count in the ledger of a cohort above it."""
    below: list[tuple[QuotaNode, Mapping[FlavorResource, int]]] = []
    child = queue
    while child.parent is not None and child.parent is not cohort:
        below.append((child, {one: cell.local for one, cell in child.cells.items()}))
        child = child.parent
    member = member_of(child)
    return Way(member, rows[member], tuple(below))


def cohort_ledgers(policies: Policies, tree: QuotaTree) -> Iterator[Wanted[CohortTerms]]:
    """Yield the ledgers of cohorts that there should be, by name."""
    for node, policy in sorted(policies.cohorts(), key=lambda one: one[0].name):
        name = CreditKind.ACCOUNT, node.name
        yield Wanted(CohortLedger, name, member_of(node), CohortTerms(tree, node, policy))
