"""The search for victims of one preemptor: for one flavor-resource, or for all that it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.flavors.grades import Grade
from queueing.core.holders import Holders
from queueing.core.names import FlavorResource
from queueing.core.preemption.query import Preemptor, Query, Target
from queueing.core.quota.tree import QuotaTree

Strategy = Callable[[Query, QuotaTree, Holders], list[Target]]
"""Classical or fair-sharing preemption."""


@dataclass(slots=True, eq=False, kw_only=True)
class VictimSearch:
    """Finds victims for one preemptor while usage stays the same; answers are memoized."""

    preemptor: Preemptor
    tree: QuotaTree
    holders: Holders
    strategy: Strategy
    _answers: dict[tuple[object, ...], list[Target]] = field(default_factory=dict)

    def targets(
        self,
        requests: Mapping[FlavorResource, int],
        contested: Sequence[FlavorResource],
        has_place: Callable[[], bool] | None = None,
    ) -> list[Target]:
        """Return the victims without which all requests fit; empty if that is impossible."""
        key = (*requests.items(), *contested)
        found = self._answers.get(key) if has_place is None else None
        if found is None:
            query = Query(self.preemptor, requests, contested, has_place)
            found = _expanded(self.strategy(query, self.tree, self.holders))
            if has_place is None:
                self._answers[key] = found
        return found

    def simulate(self, resource: FlavorResource, amount: int) -> tuple[Grade, int]:
        """Return the grade of one flavor-resource by preemption, and the borrowing level then."""
        targets = self.targets({resource: amount}, [resource])
        cell = self.preemptor.node.cell(resource)
        if not targets:
            return Grade.NO_CANDIDATES, cell.height_of_fit(amount)[0]
        with self.tree.attempt():
            for target in targets:
                self.tree.remove_usage(target.holder.queue, target.holder.counted)
            borrow = cell.height_of_fit(amount)[0]
        if any(target.reason is PreemptionReason.IN_CLUSTER_QUEUE for target in targets):
            return Grade.PREEMPT, borrow
        return Grade.RECLAIM, borrow


def _expanded(targets: list[Target]) -> list[Target]:
    """Replace each holder that stands for several (`Holder.members`) by these."""
    if not any(one.holder.members for one in targets):
        return targets
    return [
        Target(member, one.reason)
        for one in targets
        for member in one.holder.members or (one.holder,)
    ]
