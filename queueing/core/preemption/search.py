"""The search for victims of one preemptor: for one flavor-resource, or for all that it needs."""

from collections.abc import Callable, Mapping, Sequence

from queueing.core.decisions import PreemptionReason
from queueing.core.flavors.grades import Grade
from queueing.core.holders import Holders
from queueing.core.names import FlavorResource
from queueing.core.preemption.query import Preemptor, Query, Target
from queueing.core.quota.tree import QuotaTree

Strategy = Callable[[Query, QuotaTree, Holders], list[Target]]
"""Classical or fair-sharing preemption."""


class VictimSearch:
    """Finds victims for one preemptor while usage stays the same; answers are memoized."""

    __slots__ = ("_answers", "_holders", "_preemptor", "_strategy", "_tree")

    def __init__(
        self, preemptor: Preemptor, tree: QuotaTree, *, holders: Holders, strategy: Strategy
    ) -> None:
        self._preemptor = preemptor
        self._tree = tree
        self._holders = holders
        self._strategy = strategy
        self._answers: dict[tuple[object, ...], list[Target]] = {}

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
            query = Query(self._preemptor, requests, contested, has_place)
            found = _expanded(self._strategy(query, self._tree, self._holders))
            if has_place is None:
                self._answers[key] = found
        return found

    def simulate(self, resource: FlavorResource, amount: int) -> tuple[Grade, int]:
        """Return the grade of one flavor-resource by preemption, and the borrowing level then."""
        targets = self.targets({resource: amount}, [resource])
        cell = self._preemptor.node.cell(resource)
        if not targets:
            return Grade.NO_CANDIDATES, cell.height_of_fit(amount)[0]
        with self._tree.attempt():
            for target in targets:
                self._tree.remove_usage(target.holder.queue, target.holder.usage)
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
