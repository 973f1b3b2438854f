"""Who may be a victim, of which class, and in which order they are considered."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption.cost import cost, is_protected, weighs
from queueing.core.preemption.query import Preemptor, Query, allows, uses
from queueing.core.quota.node import Node


class Variant(IntEnum):
    """The right by which a candidate may be preempted."""

    HIERARCHICAL = 0
    """The preemptor fits in a subtree's own quota, and the candidate borrows from outside it."""
    RECLAIM_WHILE_BORROWING = 1
    RECLAIM_WITHOUT_BORROWING = 2
    """Valid only while the preemptor itself does not borrow."""
    SAME_QUEUE = 3


REASON: Mapping[Variant, PreemptionReason] = MappingProxyType(
    {
        Variant.HIERARCHICAL: PreemptionReason.IN_COHORT_RECLAMATION,
        Variant.RECLAIM_WHILE_BORROWING: PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING,
        Variant.RECLAIM_WITHOUT_BORROWING: PreemptionReason.IN_COHORT_RECLAMATION,
        Variant.SAME_QUEUE: PreemptionReason.IN_CLUSTER_QUEUE,
    }
)

_TURN = MappingProxyType(
    {
        Variant.HIERARCHICAL: 0,
        Variant.RECLAIM_WHILE_BORROWING: 1,
        Variant.RECLAIM_WITHOUT_BORROWING: 1,
        Variant.SAME_QUEUE: 2,
    }
)


class Candidate(NamedTuple):
    """A possible victim; `common` is the lowest cohort above both it and the preemptor."""

    holder: Holder
    node: Node
    variant: Variant
    common: Node | None


def candidates(query: Query, holders: Holders) -> list[Candidate]:
    """Return all candidates in order.

    Evicted ones come first, then by class (hierarchical, priority, same queue), then lower
    priority, lower cost of stopping where it is known, later reservation, uid; with admission fair
    sharing, those of the own queue by the larger usage of their LocalQueue before that.
    """
    preemptor = query.preemptor
    usage_of = holders.local_usage if preemptor.by_local_usage else None
    found = [*_same_queue(query, holders), *_other_queues(query, holders)]
    weighed = query if weighs(query, (one.holder for one in found)) else None
    found.sort(key=partial(_order, usage_of=usage_of, weighed=weighed))
    return found


def _order(
    one: Candidate, *, usage_of: Callable[..., float] | None, weighed: Query | None
) -> tuple[object, ...]:
    holder = one.holder
    history = 0.0
    if usage_of is not None and one.variant is Variant.SAME_QUEUE and holder.local_queue:
        history = usage_of(holder.local_queue)
    return (
        not holder.evicted,
        _TURN[one.variant],
        -history,
        holder.priority,
        0.0 if weighed is None or holder.evicted else cost(holder, weighed),
        -holder.reserved_at,
        holder.uid,
    )


def _same_queue(query: Query, holders: Holders) -> Iterator[Candidate]:
    preemptor = query.preemptor
    policy = preemptor.policies.within_cluster_queue
    if policy is PreemptionPolicy.NEVER:
        return
    node = preemptor.node
    for holder in eligible(node, policy, query, holders):
        if not is_protected(holder, query):
            yield Candidate(holder, node, Variant.SAME_QUEUE, None)


def _other_queues(query: Query, holders: Holders) -> Iterator[Candidate]:
    """Walk up from the queue; above the subtree that covers the request, reclaim is a right."""
    preemptor = query.preemptor
    policy = preemptor.policies.reclaim_within_cohort
    if policy is PreemptionPolicy.NEVER or preemptor.node.parent is None:
        return
    below = preemptor.node
    advantage, remaining = _fits_in_quota(below, query.requests)
    for cohort in preemptor.node.ancestors():
        for node in _borrowing_queues(cohort, below, query):
            for holder in eligible(node, policy, query, holders):
                variant = Variant.HIERARCHICAL if advantage else _variant(preemptor, holder)
                yield Candidate(holder, node, variant, cohort)
        fits, remaining = _fits_in_quota(cohort, remaining)
        advantage = advantage or fits
        below = cohort


def eligible(node: Node, policy: PreemptionPolicy, query: Query, holders: Holders) -> list[Holder]:
    """Return the workloads of a queue that a policy and the contested resources expose."""
    preemptor, contested = query.preemptor, query.contested
    spared = preemptor.spared
    held: Iterable[Holder] = holders.holders(QueueName(node.name))
    if policy is not PreemptionPolicy.ANY:
        held = [one for one in held if allows(policy, preemptor, one)]
    if len(contested) == 1:
        found = [one for one in held if contested[0] in one.usage]
    else:
        found = [one for one in held if uses(one, contested)]
    return [one for one in found if one.uid not in spared] if spared else found


def _borrowing_queues(cohort: Node, excluded: Node, query: Query) -> Iterator[Node]:
    """Go over the queues under a cohort that use more than their quota of what is contested.

    Subtrees that stay within their quota are left out, and so is the excluded one.
    """
    for child in query.preemptor.borrowers.children(cohort, query.contested):
        if child is excluded:
            continue
        if child.is_queue:
            yield child
        else:
            yield from _borrowing_queues(child, excluded, query)


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
    node: Node, requests: Mapping[FlavorResource, int]
) -> tuple[bool, dict[FlavorResource, int]]:
    """Say whether a subtree's own quota covers the requests, and what it leaves to the next."""
    remaining: dict[FlavorResource, int] = {}
    fits = True
    for resource, amount in requests.items():
        cell = node.cell(resource)
        if cell.quota < cell.usage + amount:
            fits = False
        remaining[resource] = max(0, amount - cell.local_available())
    return fits, remaining
