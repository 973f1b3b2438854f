"""A memo of which queues and cohorts use more than their quota, valid for one state of usage."""

from collections.abc import Mapping, Sequence

from queueing.core.holders import ByPriority, Holders
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quota.node import Node


def within_quota(node: Node, contested: Sequence[FlavorResource]) -> bool:
    """Say whether a node uses no more than its own quota of any contested flavor-resource."""
    for one in contested:
        cell = node.cell(one)
        if cell.usage > cell.quota:
            return False
    return True


class Borrowers:
    """Remembers which nodes borrow. Make a new one whenever usage has changed."""

    __slots__ = ("_children", "_exposed", "_queues", "highest")

    def __init__(self) -> None:
        self.highest: dict[Node, list[tuple[tuple[int, float], Node]]] = {}
        """Cohort → its two children with the largest shares; filled by `fair_sharing.reach`."""
        self._exposed: dict[tuple[object, ...], dict[FlavorResource, dict[int, int]]] = {}
        self._children: dict[tuple[object, ...], list[Node]] = {}
        self._queues: dict[tuple[object, ...], list[Node]] = {}

    def children(self, cohort: Node, contested: Sequence[FlavorResource]) -> list[Node]:
        """Return the children of a cohort that borrow any of the contested flavor-resources."""
        key = (cohort, *contested)
        found = self._children.get(key)
        if found is None:
            found = [one for one in cohort.children() if not within_quota(one, contested)]
            self._children[key] = found
        return found

    def queues(self, cohort: Node, contested: Sequence[FlavorResource]) -> list[Node]:
        """Return all queues below a cohort that borrow, also in subtrees that do not borrow."""
        key = (cohort, *contested)
        found = self._queues.get(key)
        if found is None:
            found = [one for one in cohort.queues() if not within_quota(one, contested)]
            self._queues[key] = found
        return found

    def exposed(
        self, cohort: Node, contested: Sequence[FlavorResource], holders: Holders
    ) -> ByPriority:
        """Return what may be preempted in all borrowing queues below a cohort, by priority."""
        key = (cohort, *contested)
        found = self._exposed.get(key)
        if found is None:
            found = self._exposed[key] = {}
            for queue in self.queues(cohort, contested):
                for resource, held in holders.exposed(QueueName(queue.name)).items():
                    sums = found.setdefault(resource, {})
                    for priority, amount in held.items():
                        sums[priority] = sums.get(priority, 0) + amount
        return found


def freed(held: Mapping[int, int] | None, limit: float) -> int:
    """Return the sum of what workloads of a priority below `limit` hold."""
    if not held:
        return 0
    return sum(amount for priority, amount in held.items() if priority < limit)
