"""Whether preemption by shares may help at all, by sums and by the largest shares.

Where all queues borrow about the same, no preemption is allowed, but a search would look at every
candidate to find that out. Two bounds often show it beforehand: the smallest share that the
preemptor's queue can have, without all of its own victims, and the largest share of any other.
"""

from collections.abc import Iterator, Mapping
from heapq import nlargest

from queueing.core.fair_sharing.shares import NO_SHARE, Share, Shares
from queueing.core.holders import Holders
from queueing.core.names import FlavorResource
from queueing.core.preemption.borrowers import Borrowers
from queueing.core.preemption.query import Query
from queueing.core.preemption.reach import Reach
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.core.settings import FairSharing


def may_help(query: Query, tree: QuotaTree, holders: Holders, settings: FairSharing) -> bool:
    """Say whether preemption by shares may make the preemptor fit; False is certain.

    `Patience` only raises the share that a victim must have, so it can be ignored here.
    """
    reach = Reach(query, holders)
    if reach.alone():
        return True
    return reach.with_others() and _may_take_others(query, tree, reach, settings)


def _may_take_others(query: Query, tree: QuotaTree, reach: Reach, settings: FairSharing) -> bool:
    """Say whether any workload of another queue may be a victim, by right or by shares."""
    if settings.preempt_within_nominal and _stays_within_quota(query):
        return True
    shares = Shares()
    levels = list(_levels(query.preemptor.node, query.preemptor.borrowers, shares))
    with tree.attempt():
        for resource, amount in query.requests.items():
            tree.charge(query.preemptor.node.cell(resource), amount)
        return any(
            highest >= shares.of(mine, _freed_below(mine, reach)) for mine, highest in levels
        )


def _stays_within_quota(query: Query) -> bool:
    """Say whether the preemptor's queue stays within its quota of all contested resources."""
    node, requests = query.preemptor.node, query.requests
    return not any(node.borrowing_with(one, requests.get(one, 0)) for one in query.contested)


def _levels(own: Node, borrowers: Borrowers, shares: Shares) -> Iterator[tuple[Node, Share]]:
    """Yield the nodes from a queue up, each with the largest share of its siblings, if not 0."""
    mine = own
    for cohort in own.ancestors():
        highest = borrowers.highest.get(cohort)
        if highest is None:
            found = ((shares.of(child), child) for child in cohort.children())
            highest = borrowers.highest[cohort] = nlargest(2, found, key=_share)
        beside = next((share for share, child in highest if child is not mine), NO_SHARE)
        if beside != NO_SHARE:
            yield mine, beside
        mine = cohort


def _share(one: tuple[Share, Node]) -> Share:
    return one[0]


def _freed_below(mine: Node, reach: Reach) -> Mapping[FlavorResource, int]:
    """Return, as negative amounts, an upper bound of what victims below a node hold."""
    found: dict[FlavorResource, int] = {}
    for resource in mine.cells:
        amount = reach.freed_alone(resource)
        if not mine.is_queue:
            amount += reach.freed_below(mine, resource)
        if amount:
            found[resource] = -amount
    return found
