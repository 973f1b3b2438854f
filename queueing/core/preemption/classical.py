"""Preemption by priority and quota: the rules without fair sharing."""

from collections.abc import Mapping

from queueing.core.facts import PreemptionPolicy
from queueing.core.holders import Holders
from queueing.core.names import Uid
from queueing.core.preemption.candidates import REASON, Candidates, Variant
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.reach import Reach
from queueing.core.preemption.room import Room
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree


def classical_targets(query: Query, tree: QuotaTree, holders: Holders) -> list[Target]:
    """Return victims without which the preemptor fits, in the order chosen; empty if impossible."""
    reach = Reach(query, holders)
    may_succeed = (reach.within_quota(), reach.by_borrowing())
    if not any(may_succeed):
        return []
    found = Candidates(query, holders)
    if not found:
        return []
    for borrowing in _attempts(query, found):
        if not may_succeed[borrowing]:
            continue
        with tree.attempt():
            targets = _greedy(query, tree, found, borrowing=borrowing)
        if targets:
            return targets
    return []


def _attempts(query: Query, found: Candidates) -> tuple[bool, ...]:
    """Return, for each attempt in turn, whether the preemptor may borrow in it."""
    preemptor = query.preemptor
    forbidden = preemptor.policies.borrow_within_cohort is PreemptionPolicy.NEVER
    if not found.has_others:
        return (True,)
    if forbidden and not _under_nominal(query):
        return (True,)
    if forbidden and not found.has_hierarchical:
        return (False, True)
    return (True, False)


def _under_nominal(query: Query) -> bool:
    """Say whether the queue uses less than its nominal quota of all contested resources."""
    cells = [query.preemptor.node.cell(one) for one in query.contested]
    return all(cell.usage < cell.limits.nominal for cell in cells)


def _greedy(query: Query, tree: QuotaTree, found: Candidates, *, borrowing: bool) -> list[Target]:
    """Remove candidates in order until the preemptor fits, then spare those not needed."""
    room = Room(tree, query.preemptor.node, query.requests)
    over = _Over(query)
    targets: list[Target] = []
    bound: dict[Uid, Target] = {}
    for one in found:
        if one.common is not None:
            if borrowing and one.variant is Variant.RECLAIM_WITHOUT_BORROWING:
                continue
            if not over.borrows(one.node, one.common):
                continue
        room.clear(one.holder)
        target = Target(one.holder, REASON[one.variant])
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
    return room.fill_back(free, borrowing=True, needs_last=False)


class _Over:
    """Whether a candidate's queue, and all cohorts above it below the common one, still borrow."""

    __slots__ = ("_contested", "_levels")

    def __init__(self, query: Query) -> None:
        self._contested = query.contested
        self._levels: dict[Node, list[list[Cell]]] = {}

    def borrows(self, node: Node, common: Node) -> bool:
        """Say whether all nodes from a queue up to below `common` borrow, on the present usage."""
        levels = self._levels.get(node)
        if levels is None:
            levels = self._levels[node] = []
            below: Node | None = node
            while below is not None and below is not common:
                levels.append([below.cell(one) for one in self._contested])
                below = below.parent
        return all(any(cell.usage > cell.quota for cell in level) for level in levels)
