"""The candidates for preemption: which right exposes each, and in which order they are tried.

The classes and their order are those of Kueue (its documentation page on preemption).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from heapq import merge
from typing import NamedTuple

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption.cost import cost, is_protected, weighs
from queueing.core.preemption.query import Preemptor, Query, allows
from queueing.core.quota.node import QuotaNode


class Variant(Enum):
    """The right by which a candidate may be preempted: its turn among others, and the reason."""

    HIERARCHICAL = 0, PreemptionReason.IN_COHORT_RECLAMATION
    """The request fits in the quota of the preemptor's queue or of a cohort above it, and the
    candidate is outside of that subtree and borrows."""
    RECLAIM_WHILE_BORROWING = 1, PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
    """`borrowWithinCohort` allows it also while the preemptor borrows."""
    RECLAIM_WITHOUT_BORROWING = 1, PreemptionReason.IN_COHORT_RECLAMATION
    """Allowed only while the preemptor itself does not borrow."""
    SAME_QUEUE = 2, PreemptionReason.IN_CLUSTER_QUEUE
    """The candidate is in the preemptor's own ClusterQueue."""

    def __init__(self, turn: int, reason: PreemptionReason) -> None:
        self.turn = turn
        self.reason = reason


class Candidate(NamedTuple):
    """A possible victim; `common` is the lowest cohort above both it and the preemptor."""

    holder: Holder
    node: QuotaNode
    variant: Variant
    common: QuotaNode | None


class CandidateSource(NamedTuple):
    """A queue that has candidates, the policy that exposes them, and by which right."""

    node: QuotaNode
    policy: PreemptionPolicy
    variant: Variant | None
    """None if it depends on the candidate: one of the two RECLAIM variants."""
    common: QuotaNode | None


class Candidates:
    """All candidates, in order; they are found as far as they are read, because few are needed.

    Evicted ones, and those that only have a promise, come first, then by class (hierarchical, other
    queues, same queue), then lower priority, lower cost of stopping if any cost is known, later
    reservation, uid. Where LocalQueues take turns, the larger usage comes before priority within a
    queue; between queues, the next of each are compared.
    """

    __slots__ = ("_holders", "_query", "_sources", "_weighed", "variants")

    def __init__(self, query: Query, holders: Holders) -> None:
        self._query, self._holders = query, holders
        self._sources: list[CandidateSource] = []
        self.variants: set[Variant] = set()
        """The rights that occur."""
        for one in _sources(query):
            first = next(self._members(one), None)
            if first is not None:
                self._sources.append(one)
                self.variants.add(first.variant)
        self._weighed = query if self._knows_costs() else None

    def __iter__(self) -> Iterator[Candidate]:
        return merge(*map(self._in_order, self._sources), key=self._order)

    def _in_order(self, source: CandidateSource) -> Iterable[Candidate]:
        turns = takes_turns(self._query, source.node)
        if self._weighed is None and not turns:
            return self._members(source)
        line = sorted(self._members(source), key=self._order)
        if turns:
            line.sort(key=lambda one: turn(one.holder, self._holders))
        return line

    def _members(self, source: CandidateSource) -> Iterator[Candidate]:
        """Yield the candidates of a queue, in their order if neither usage nor costs count."""
        node, policy, variant, common = source
        preemptor, same_queue = self._query.preemptor, variant is Variant.SAME_QUEUE
        in_order = self._holders.ranked(QueueName(node.name)).holders
        for holder in eligible(in_order, policy, self._query):
            if not (same_queue and is_protected(holder, self._query)):
                right = _variant(preemptor, holder) if variant is None else variant
                yield Candidate(holder, node, right, common)

    def _knows_costs(self) -> bool:
        """Say whether the cost of stopping any candidate is known."""
        ranked = (self._holders.ranked(QueueName(one.node.name)) for one in self._sources)
        return any(one.has_stakes for one in ranked) and weighs(
            self._query, (one.holder for source in self._sources for one in self._members(source))
        )

    def _order(self, one: Candidate) -> tuple[object, ...]:
        """Return the place among candidates of other queues."""
        holder, weighed = one.holder, self._weighed
        return (
            holder.runs,
            one.variant.turn,
            holder.priority,
            cost(holder, weighed) if weighed is not None and holder.runs else 0.0,
            -holder.reserved_at,
            holder.uid,
        )


def takes_turns(query: Query, node: QuotaNode) -> bool:
    """Say whether the candidates of a queue are sorted by the usage of their LocalQueues first."""
    return query.preemptor.takes_turns(QueueName(node.name))


def turn(holder: Holder, holders: Holders) -> tuple[bool, float]:
    """Return the place by which the candidates of such a queue are sorted before all else."""
    usage = 0.0
    if holder.local_queue:
        usage = holders.local_usage(holder.queue, holder.local_queue)
    return holder.runs, -usage


def _sources(query: Query) -> Iterator[CandidateSource]:
    """Yield the preemptor's own queue, then borrowing ones, from its parent cohort upwards.

    Above a node whose own quota covers the request, their workloads are HIERARCHICAL candidates.
    """
    preemptor, own = query.preemptor, query.preemptor.node
    policies = preemptor.policies
    if policies.within_cluster_queue is not PreemptionPolicy.NEVER:
        yield CandidateSource(own, policies.within_cluster_queue, Variant.SAME_QUEUE, None)
    if policies.reclaim_within_cohort is PreemptionPolicy.NEVER:
        return
    right: dict[QuotaNode, Variant | None] = {}
    advantage, remaining = _fits_in_quota(own, query.requests)
    for cohort in own.ancestors():
        right[cohort] = Variant.HIERARCHICAL if advantage else None
        fits, remaining = _fits_in_quota(cohort, remaining)
        advantage = advantage or fits
    for node in preemptor.reach.borrowing(own.root):
        common = next((one for one in node.ancestors() if one in right), None)
        if node is not own and common and still_borrows(node, common, query.contested):
            yield CandidateSource(node, policies.reclaim_within_cohort, right[common], common)


def still_borrows(node: QuotaNode, common: QuotaNode, contested: Sequence[FlavorResource]) -> bool:
    """Say whether a queue, and all cohorts above it up to below the common one, borrow."""
    below: QuotaNode | None = node
    while below is not None and below is not common:
        if not below.borrows(contested):
            return False
        below = below.parent
    return True


def eligible(held: Iterable[Holder], policy: PreemptionPolicy, query: Query) -> Iterator[Holder]:
    """Yield those of some workloads that a policy allows and that use contested resources."""
    preemptor, spared = query.preemptor, query.preemptor.spared
    if policy is not PreemptionPolicy.ANY:
        held = (one for one in held if allows(policy, preemptor, one))
    if spared:
        # workloads that can only be stopped together are spared together
        held = (one for one in held if spared.isdisjoint((one.uid, *(m.uid for m in one.members))))
    return (one for one in held if not one.usage.keys().isdisjoint(query.contested))


def _variant(preemptor: Preemptor, holder: Holder) -> Variant:
    policies = preemptor.policies
    if policies.borrow_within_cohort is PreemptionPolicy.NEVER:
        return Variant.RECLAIM_WITHOUT_BORROWING
    threshold = policies.max_priority_threshold
    if holder.priority >= preemptor.priority or (
        threshold is not None and holder.priority > threshold
    ):
        return Variant.RECLAIM_WITHOUT_BORROWING
    return Variant.RECLAIM_WHILE_BORROWING


def _fits_in_quota(
    node: QuotaNode, requests: Mapping[FlavorResource, int]
) -> tuple[bool, dict[FlavorResource, int]]:
    """Say whether a subtree's quota covers the requests, and what remains for its parent."""
    remaining: dict[FlavorResource, int] = {}
    fits = True
    for resource, amount in requests.items():
        cell = node.cell(resource)
        if cell.quota < cell.usage + amount:
            fits = False
        remaining[resource] = max(0, amount - cell.local_available())
    return fits, remaining
