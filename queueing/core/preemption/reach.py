"""The most that preemption could make available: sums that rule out most vain searches.

Where all quota is used, most searches for victims find none, after looking at every candidate.
Often a few sums show that beforehand. They are upper bounds, because:

- freeing an amount anywhere in a tree makes at most that amount available in any queue of it;
- victims are in the preemptor's own queue, or in queues that borrow a contested resource;
- without borrowing, a queue gets at most its own quota, and only its own victims free that.

All other conditions of a search can only make it find less. So if a bound is too small, the search
would find no victims, and is skipped.
"""

from math import inf

from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holders
from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption.borrowers import freed, within_quota
from queueing.core.preemption.candidates import has_advantage
from queueing.core.preemption.query import Query
from queueing.core.quota.node import Node


def limit_of(policy: PreemptionPolicy, priority: int) -> float:
    """Return the limit below which a policy exposes priorities; equals are taken to be newer."""
    match policy:
        case PreemptionPolicy.NEVER:
            return -inf
        case PreemptionPolicy.ANY:
            return inf
        case PreemptionPolicy.LOWER_PRIORITY:
            return priority
        case PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY:
            return priority + 1


class Reach:
    """Bounds for one query, at the present usage. An answer of False is certain."""

    __slots__ = ("_holders", "_own", "_query", "_reclaim", "_within")

    def __init__(self, query: Query, holders: Holders) -> None:
        preemptor = query.preemptor
        policies, node = preemptor.policies, preemptor.node
        self._query, self._holders = query, holders
        self._within = limit_of(policies.within_cluster_queue, preemptor.priority)
        self._reclaim = -inf
        if node.parent is not None:
            self._reclaim = limit_of(policies.reclaim_within_cohort, preemptor.priority)
        self._own = holders.exposed(QueueName(node.name))

    def alone(self) -> bool:
        """Say whether victims of the preemptor's own queue may be enough."""
        return self._may_fit(-inf)

    def with_others(self) -> bool:
        """Say whether all possible victims together may be enough."""
        return self._may_fit(self._reclaim)

    def by_borrowing(self) -> bool:
        """Say whether an attempt in which the preemptor may borrow may succeed.

        In it fewer workloads may be victims: see `Variant.RECLAIM_WITHOUT_BORROWING`.
        """
        if self._may_fit(self._while_borrowing()):
            return True
        return self.with_others() and has_advantage(self._query)

    def within_quota(self) -> bool:
        """Say whether an attempt in which the preemptor must not borrow may succeed."""
        node = self._query.preemptor.node
        for resource, amount in self._query.requests.items():
            cell = node.cell(resource)
            if cell.quota < cell.usage + amount - self.freed_alone(resource):
                return False
        return self.with_others()

    def freed_alone(self, resource: FlavorResource) -> int:
        """Return what all possible victims in the preemptor's own queue hold."""
        return freed(self._own.get(resource), self._within)

    def freed_below(self, cohort: Node, resource: FlavorResource) -> int:
        """Return what all possible victims in the borrowing queues below a cohort hold."""
        return self._freed(cohort, resource, self._reclaim)

    def _while_borrowing(self) -> float:
        """Return the limit of priorities of victims in other queues while the preemptor borrows."""
        preemptor = self._query.preemptor
        policies = preemptor.policies
        if policies.borrow_within_cohort is PreemptionPolicy.NEVER:
            return -inf
        threshold = policies.max_priority_threshold
        return min(self._reclaim, preemptor.priority, inf if threshold is None else threshold + 1)

    def _may_fit(self, limit: float) -> bool:
        """Say whether it may fit with victims of other queues of priorities below `limit`."""
        node = self._query.preemptor.node
        for resource, amount in self._query.requests.items():
            most = node.cell(resource).available() + self.freed_alone(resource)
            if amount > max(0, most) and amount > most + self._freed_elsewhere(resource, limit):
                return False
        return True

    def _freed_elsewhere(self, resource: FlavorResource, limit: float) -> int:
        if limit == -inf:
            return 0
        node = self._query.preemptor.node
        total = self._freed(node.root(), resource, limit)
        if not within_quota(node, self._query.contested):
            total -= freed(self._own.get(resource), limit)
        return total

    def _freed(self, cohort: Node, resource: FlavorResource, limit: float) -> int:
        if limit == -inf:
            return 0
        query = self._query
        held = query.preemptor.borrowers.exposed(cohort, query.contested, self._holders)
        return freed(held.get(resource), limit)
