"""Whether preemption by shares may help at all, by sums and by the highest shares.

Where all borrow about the same, nobody may preempt, but a search for victims goes over every
candidate to find that out. What a queue has at least, once all its own victims have gone, and what
others have at most, before anybody has, often tells so beforehand.
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
    """Say whether preemption by shares may make room; False is certain.

    Patience asks for larger shares of victims, never for smaller ones, so it need not be known.
    """
    reach = Reach(query, holders)
    if reach.alone():
        return True
    return reach.with_others() and _may_take_others(query, tree, reach, settings)


def _may_take_others(query: Query, tree: QuotaTree, reach: Reach, settings: FairSharing) -> bool:
    """Say whether anybody in another queue may be a victim, by right or by shares."""
    if settings.preempt_within_nominal and _may_stay_within_quota(query, reach):
        return True
    shares = Shares()
    levels = list(_levels(query.preemptor.node, query.preemptor.borrowers, shares))
    with tree.attempt():
        for resource, amount in query.requests.items():
            tree.charge(query.preemptor.node.cell(resource), amount)
        return any(
            highest >= shares.of(mine, _freed_below(mine, reach)) for mine, highest in levels
        )


def _may_stay_within_quota(query: Query, reach: Reach) -> bool:
    """Say whether the queue may come to use no more than its own quota of what is contested."""
    for resource in query.contested:
        cell = query.preemptor.node.cell(resource)
        used = cell.usage + query.requests.get(resource, 0)
        if used - reach.freed_alone(resource) > cell.quota:
            return False
    return True


def _levels(own: Node, borrowers: Borrowers, shares: Shares) -> Iterator[tuple[Node, Share]]:
    """Go up from a queue: each node, and the highest share beside it, where anybody borrows."""
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
    """Return, as negative amounts, what the victims below a node hold at most."""
    found: dict[FlavorResource, int] = {}
    for resource in mine.cells:
        amount = reach.freed_alone(resource)
        if not mine.is_queue:
            amount += reach.freed_below(mine, resource)
        if amount:
            found[resource] = -amount
    return found
