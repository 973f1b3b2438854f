"""The candidates for preemption: which right exposes each, and in which order they are tried.

The classes and their order are those of Kueue (its documentation page on preemption).
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import partial
from heapq import heapify, heappop, heapreplace, merge
from types import MappingProxyType
from typing import NamedTuple

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.preemption.cost import cost, is_protected, weighs
from queueing.core.preemption.query import Preemptor, Query, allows, uses
from queueing.core.quota.node import Node


class Variant(IntEnum):
    """The right by which a candidate may be preempted."""

    HIERARCHICAL = 0
    """The request fits in the quota of the preemptor's queue or of a cohort above it, and the
    candidate is outside of that subtree and borrows."""
    RECLAIM_WHILE_BORROWING = 1
    """`borrowWithinCohort` allows it also while the preemptor borrows."""
    RECLAIM_WITHOUT_BORROWING = 2
    """Allowed only while the preemptor itself does not borrow."""
    SAME_QUEUE = 3
    """The candidate is in the preemptor's own ClusterQueue."""


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


class Source(NamedTuple):
    """A queue that has candidates, the policy that exposes them, and by which right."""

    node: Node
    policy: PreemptionPolicy
    variant: Variant | None
    """None if it depends on the candidate: one of the two RECLAIM variants."""
    common: Node | None


class Candidates:
    """All candidates in the order of `candidates`, found lazily, because few of many are needed.

    Each queue has its own in order (`Holders.ranked`); iteration merges them as far as it goes. If
    the order needs usage histories or costs, all are found at once.
    """

    __slots__ = ("_found", "_next", "has_hierarchical", "has_others")

    def __init__(self, query: Query, holders: Holders) -> None:
        self.has_others = self.has_hierarchical = False
        self._found: list[Candidate] = []
        """Those that were read so far."""
        self._next: list[tuple[tuple[object, ...], Candidate, Iterator[Candidate]]] = []
        """A heap with the next candidate of each queue."""
        sources = [*_same_queue(query), *_other_queues(query)]
        ranked = [holders.ranked(QueueName(one.node.name)) for one in sources]
        turns = query.preemptor.takes_turns is not None and any(
            takes_turns(query, one.node) for one in sources
        )
        if turns or any(one.has_stakes for one in ranked):
            self._found = candidates(query, holders)
            self._note(self._found)
            return
        for source, in_order in zip(sources, ranked, strict=True):
            line = _members(source, query, in_order.holders)
            first = next(line, None)
            if first is not None:
                self._next.append((_place(first), first, line))
        self._note([first for _, first, _ in self._next])
        heapify(self._next)

    def __bool__(self) -> bool:
        return bool(self._found or self._next)

    def __iter__(self) -> Iterator[Candidate]:
        at = 0
        while at < len(self._found) or self._read():
            yield self._found[at]
            at += 1

    def _read(self) -> bool:
        """Append the next candidate to `_found`; say whether there was one."""
        if not self._next:
            return False
        _, best, line = self._next[0]
        self._found.append(best)
        following = next(line, None)
        if following is None:
            heappop(self._next)
        else:
            heapreplace(self._next, (_place(following), following, line))
        return True

    def _note(self, some: Iterable[Candidate]) -> None:
        """Note which rights occur; `some` has at least one candidate of each queue."""
        variants = {one.variant for one in some}
        self.has_others = bool(variants - {Variant.SAME_QUEUE})
        self.has_hierarchical = Variant.HIERARCHICAL in variants


def candidates(query: Query, holders: Holders) -> list[Candidate]:
    """Return all candidates in order.

    Evicted ones, and those that only have a promise, come first, then by class (hierarchical, other
    queues, same queue), then lower priority, lower cost of stopping if any cost is known, later
    reservation, uid. Where LocalQueues take turns, the larger usage comes before priority within a
    queue; between queues, the next of each are compared.
    """
    sources = [*_same_queue(query), *_other_queues(query)]
    lines = [
        [
            one
            for one in _members(source, query, holders.holders(QueueName(source.node.name)))
            if one.variant is not Variant.SAME_QUEUE or not is_protected(one.holder, query)
        ]
        for source in sources
    ]
    weighed = query if weighs(query, (one.holder for line in lines for one in line)) else None
    order = partial(_order, weighed=weighed)
    for source, line in zip(sources, lines, strict=True):
        line.sort(key=order)
        if takes_turns(query, source.node):
            line.sort(key=lambda one: turn(one.holder, holders))
    return list(merge(*lines, key=order))


def takes_turns(query: Query, node: Node) -> bool:
    """Say whether the candidates of a queue are sorted by the usage of their LocalQueues first."""
    asked = query.preemptor.takes_turns
    return asked is not None and asked(QueueName(node.name))


def turn(holder: Holder, holders: Holders) -> tuple[bool, float]:
    """Return the place by which the candidates of such a queue are sorted before all else."""
    usage = 0.0
    if holder.local_queue:
        usage = holders.local_usage(holder.queue, holder.local_queue)
    return holder.runs, -usage


def _place(one: Candidate) -> tuple[object, ...]:
    """Return the place in the order of `candidates` if neither usage nor costs count."""
    return _order(one, weighed=None)


def _order(one: Candidate, *, weighed: Query | None) -> tuple[object, ...]:
    """Return the place among candidates of other queues."""
    holder = one.holder
    return (
        holder.runs,
        _TURN[one.variant],
        holder.priority,
        cost(holder, weighed) if weighed is not None and holder.runs else 0.0,
        -holder.reserved_at,
        holder.uid,
    )


def _same_queue(query: Query) -> Iterator[Source]:
    policy = query.preemptor.policies.within_cluster_queue
    if policy is not PreemptionPolicy.NEVER:
        yield Source(query.preemptor.node, policy, Variant.SAME_QUEUE, None)


def _other_queues(query: Query) -> Iterator[Source]:
    """Yield the borrowing queues of the tree, from the preemptor's parent cohort upwards.

    Above a node whose own quota covers the request, their workloads are HIERARCHICAL candidates.
    """
    preemptor = query.preemptor
    policy = preemptor.policies.reclaim_within_cohort
    if policy is PreemptionPolicy.NEVER or preemptor.node.parent is None:
        return
    below = preemptor.node
    advantage, remaining = _fits_in_quota(below, query.requests)
    for cohort in preemptor.node.ancestors():
        variant = Variant.HIERARCHICAL if advantage else None
        for node in _borrowing_queues(cohort, below, query):
            yield Source(node, policy, variant, cohort)
        fits, remaining = _fits_in_quota(cohort, remaining)
        advantage = advantage or fits
        below = cohort


def _members(source: Source, query: Query, held: Iterable[Holder]) -> Iterator[Candidate]:
    """Yield the workloads of a queue that the policy allows and that use contested resources."""
    node, policy, variant, common = source
    preemptor, contested = query.preemptor, query.contested
    spared = preemptor.spared
    for holder in held:
        if (
            allows(policy, preemptor, holder)
            and uses(holder, contested)
            and not (spared and is_spared(holder, spared))
        ):
            right = _variant(preemptor, holder) if variant is None else variant
            yield Candidate(holder, node, right, common)


def is_spared(holder: Holder, spared: frozenset[Uid]) -> bool:
    """Say whether a holder, or a member of it, is among the spared, so that it is no candidate."""
    return holder.uid in spared or any(one.uid in spared for one in holder.members)


def eligible(node: Node, policy: PreemptionPolicy, query: Query, holders: Holders) -> list[Holder]:
    """Return the workloads of a queue that a policy allows and that use contested resources."""
    preemptor, contested = query.preemptor, query.contested
    spared = preemptor.spared
    held: Iterable[Holder] = holders.holders(QueueName(node.name))
    if policy is not PreemptionPolicy.ANY:
        held = [one for one in held if allows(policy, preemptor, one)]
    if len(contested) == 1:
        found = [one for one in held if contested[0] in one.usage]
    else:
        found = [one for one in held if uses(one, contested)]
    return [one for one in found if not is_spared(one, spared)] if spared else found


def _borrowing_queues(cohort: Node, excluded: Node, query: Query) -> Iterator[Node]:
    """Yield the queues below a cohort that use more than their quota of contested resources.

    Left out are subtrees that stay within their quota, and the `excluded` child.
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


def has_advantage(query: Query) -> bool:
    """Say whether the quota of a node below the root covers the request.

    Then there may be HIERARCHICAL candidates above it.
    """
    node, remaining = query.preemptor.node, query.requests
    for cohort in query.preemptor.node.ancestors():
        fits, remaining = _fits_in_quota(node, remaining)
        if fits:
            return True
        node = cohort
    return False


def _fits_in_quota(
    node: Node, requests: Mapping[FlavorResource, int]
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
