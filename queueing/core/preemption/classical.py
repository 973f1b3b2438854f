"""Preemption by priority and quota: the rules without fair sharing."""

from collections.abc import Mapping

from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holders
from queueing.core.names import Uid
from queueing.core.preemption.candidates import Candidates, Variant, still_borrows
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.room import Room
from queueing.core.quota.tree import QuotaTree


def classical_targets(query: Query, tree: QuotaTree, holders: Holders) -> list[Target]:
    """Return victims without which the preemptor fits, in the order chosen; empty if impossible."""
    if not query.may_succeed(holders):
        return []
    found = Candidates(query, holders)
    for borrowing in _attempts(query, found) if found.variants else ():
        with tree.attempt():
            targets = _greedy(query, tree, found, borrowing=borrowing)
        if targets:
            return targets
    return []


def _attempts(query: Query, found: Candidates) -> tuple[bool, ...]:
    """Return, for each attempt in turn, whether the preemptor may borrow in it."""
    if found.variants == {Variant.SAME_QUEUE}:
        return (True,)
    preemptor = query.preemptor
    if preemptor.policies.borrow_within_cohort is PreemptionPolicy.NEVER:
        cells = map(preemptor.node.cell, query.contested)
        if not all(cell.usage < cell.limits.nominal for cell in cells):
            return (True,)
        if Variant.HIERARCHICAL not in found.variants:
            return (False, True)
    return (True, False)


def _greedy(query: Query, tree: QuotaTree, found: Candidates, *, borrowing: bool) -> list[Target]:
    """Remove candidates in order until the preemptor fits, then spare those not needed."""
    room = Room(tree, query)
    targets: list[Target] = []
    bound: dict[Uid, Target] = {}
    for one in found:
        if one.common is not None:
            if borrowing and one.variant is Variant.RECLAIM_WITHOUT_BORROWING:
                continue
            if not still_borrows(one.node, one.common, query.contested):
                continue
        room.clear(one.holder)
        target = Target(one.holder, one.variant.reason)
        targets.append(target)
        if one.variant is Variant.RECLAIM_WITHOUT_BORROWING:
            bound[one.holder.uid] = target
        if room.fits(borrowing=borrowing):
            kept = room.fill_back(targets, borrowing=borrowing)
            if borrowing or not query.preemptor.thorough:
                return kept
            return _borrow_rather(room, kept, bound)
    return []


def _borrow_rather(room: Room, targets: list[Target], bound: Mapping[Uid, Target]) -> list[Target]:
    """Spare more victims where the preemptor may borrow instead.

    It must not borrow while one of its victims is in `bound`: these may be preempted only without
    borrowing. So a single one of `bound` is spared if the preemptor then fits by borrowing, and
    when none of `bound` is left, any of the others may be spared.
    """
    binding = [one for one in targets if one.holder.uid in bound]
    if len(binding) > 1:
        return targets
    for one in binding:
        room.restore(one.holder)
        if not room.fits(borrowing=True):
            room.clear(one.holder)
            return targets
    free = [one for one in targets if one.holder.uid not in bound]
    return room.fill_back(free, borrowing=True)
