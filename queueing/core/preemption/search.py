"""The search for victims as one workload asks for it: for one flavor-resource, or all it needs."""

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
    """Answers for one preemptor while the tree stays as it is; equal questions are asked once."""

    __slots__ = ("_answers", "_holders", "_introduce", "_preemptor", "_strategy", "_tree")

    def __init__(
        self,
        introduce: Callable[[], Preemptor],
        tree: QuotaTree,
        *,
        holders: Holders,
        strategy: Strategy,
    ) -> None:
        self._introduce = introduce
        self._preemptor: Preemptor | None = None
        self._tree = tree
        self._holders = holders
        self._strategy = strategy
        self._answers: dict[tuple[object, ...], list[Target]] = {}

    def targets(
        self, requests: Mapping[FlavorResource, int], contested: Sequence[FlavorResource]
    ) -> list[Target]:
        """Return whom to preempt so that all requests fit; none when that cannot be had."""
        key = (*requests.items(), *contested)
        found = self._answers.get(key)
        if found is None:
            query = Query(self._who(), requests, contested)
            targets = self._strategy(query, self._tree, self._holders)
            found = self._answers[key] = _each(targets)
        return found

    def simulate(self, resource: FlavorResource, amount: int) -> tuple[Grade, int]:
        """Return the grade that preemption gives one flavor-resource, and the borrowing then."""
        targets = self.targets({resource: amount}, [resource])
        cell = self._who().node.cell(resource)
        if not targets:
            return Grade.NO_CANDIDATES, cell.height_of_fit(amount)[0]
        with self._tree.attempt():
            for target in targets:
                self._tree.remove_usage(target.holder.queue, target.holder.usage)
            borrow = cell.height_of_fit(amount)[0]
        if any(target.reason is PreemptionReason.IN_CLUSTER_QUEUE for target in targets):
            return Grade.PREEMPT, borrow
        return Grade.RECLAIM, borrow

    def _who(self) -> Preemptor:
        """Most heads fit, or must not preempt: the preemptor is made when it is first needed."""
        if self._preemptor is None:
            self._preemptor = self._introduce()
        return self._preemptor


def _each(targets: list[Target]) -> list[Target]:
    """Name, in place of one who stands for several, all of them."""
    if not any(one.holder.members for one in targets):
        return targets
    return [
        Target(member, one.reason)
        for one in targets
        for member in one.holder.members or (one.holder,)
    ]
