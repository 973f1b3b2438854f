"""The most that could be had of a flavor-resource: from free quota and from possible victims.

Where all quota is used, most searches for victims find none, after looking at every candidate; a
sum shows that before. It is an upper bound. Freeing an amount anywhere in a tree makes at most that
amount available in any queue of it, and victims are in the preemptor's own queue, or in queues that
borrow something.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.holders import ByPriority, Holders
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode

NOTHING: Mapping[int, int] = {}


@dataclass(slots=True, eq=False, kw_only=True)
class Reach:
    """Remembers which queues borrow, and what they expose, for one state of usage.

    Not `by_shares`, others are preempted only within the own quota of the preemptor's queue, if it
    must not borrow meanwhile and no cohort below the root counts.
    """

    by_shares: bool = True
    _borrowing: dict[QuotaNode, dict[QuotaNode, None]] = field(default_factory=dict)
    _exposed: dict[QuotaNode, dict[FlavorResource, dict[int, int]]] = field(default_factory=dict)

    def borrowing(self, root: QuotaNode) -> Mapping[QuotaNode, None]:
        """Return the queues of a tree that borrow anything."""
        found = self._borrowing.get(root)
        if found is None:
            queues = (one for one in root.queues() if one.borrows(one.cells))
            found = self._borrowing[root] = dict.fromkeys(queues)
        return found

    def most(
        self,
        node: QuotaNode,
        resource: FlavorResource,
        priority: int,
        policies: Preemption,
        holders: Holders,
    ) -> int:
        """Return the most that a workload of this priority could get in a queue."""
        free, root = node.available(resource), node.root
        held = holders.exposed(QueueName(node.name)).get(resource, NOTHING)
        own = freed(held, policies.within_cluster_queue, priority)
        reclaim = policies.reclaim_within_cohort
        if reclaim is PreemptionPolicy.NEVER:
            return free + own
        others = freed(self._all(root, holders).get(resource, NOTHING), reclaim, priority)
        if node in self.borrowing(root):
            others -= freed(held, reclaim, priority)
        most = free + own + others
        flat = node.parent is None or node.parent is root
        if flat and not self.by_shares and policies.borrow_within_cohort is PreemptionPolicy.NEVER:
            cell = node.cell(resource)
            most = min(most, cell.quota - cell.usage + own)
        return max(free + own, most)

    def _all(self, root: QuotaNode, holders: Holders) -> ByPriority:
        """Return what may be preempted in all queues of a tree that borrow, by priority."""
        found = self._exposed.get(root)
        if found is None:
            found = self._exposed[root] = {}
            for queue in self.borrowing(root):
                for resource, held in holders.exposed(QueueName(queue.name)).items():
                    sums = found.setdefault(resource, {})
                    for priority, amount in held.items():
                        sums[priority] = sums.get(priority, 0) + amount
        return found


def freed(held: Mapping[int, int], policy: PreemptionPolicy, priority: int) -> int:
    """Return the most that a policy lets a workload of this priority free of what others hold.

    Workloads of its own priority are taken to be newer.
    """
    limits = {
        PreemptionPolicy.NEVER: -inf,
        PreemptionPolicy.LOWER_PRIORITY: priority,
        PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY: priority + 1,
        PreemptionPolicy.ANY: inf,
    }
    return sum(amount for rank, amount in held.items() if rank < limits[policy])
