"""The most that a workload could get of a flavor-resource: from free quota and possible victims.

It is an upper bound. A workload that requests more cannot be admitted now, so it waits on a shelf
and is not judged at each event. The bound holds because freeing an amount anywhere in a tree makes
at most that amount available in any queue of it, and because victims are in the workload's own
queue, or in queues that borrow something.
"""

from collections.abc import Mapping

from queueing.core.facts import PreemptionPolicy
from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption.borrowers import freed
from queueing.core.preemption.reach import limit_of
from queueing.core.quota.node import Node
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Lacks, Peers

NOTHING: Mapping[int, int] = {}


class Reach:
    """The bounds in one tree, valid while nothing in the tree changes."""

    __slots__ = ("_borrowing", "_memory", "_root", "_total")

    def __init__(self, memory: Memory, root: Node) -> None:
        self._memory, self._root = memory, root
        self._borrowing: set[QueueName] | None = None
        self._total: dict[FlavorResource, dict[int, int]] = {}
        """What possible victims in borrowing queues hold, by priority."""

    def most(self, name: QueueName, resource: FlavorResource, priority: int | None) -> int:
        """Return the most that can be had in a queue; without a priority, of free quota only."""
        node = self._memory.tree.queue(name)
        free = node.available(resource)
        if priority is None:
            return free
        policies = self._memory.objects.queues[name].preemption
        held = self._memory.ledger.exposed(name).get(resource, NOTHING)
        own = freed(held, limit_of(policies.within_cluster_queue, priority))
        reclaim = policies.reclaim_within_cohort
        if reclaim is PreemptionPolicy.NEVER:
            return free + own
        borrowing = self._borrowers()
        limit = limit_of(reclaim, priority)
        others = freed(self._total.get(resource, NOTHING), limit)
        if name in borrowing:
            others -= freed(held, limit)
        most = free + own + others
        if self._stays_in_quota(name, node):
            most = min(most, node.quota(resource) - node.usage(resource) + own)
        return max(free + own, most)

    def missing(self, peers: Peers) -> Lacks | None:
        """Return amounts before one of which can be had peers cannot be admitted.

        None if they might be admitted now. Empty means that no amount would help.
        """
        if peers.demand.may_shrink or peers.demand.claims:
            return None
        name, priority = peers.queue, peers.priority
        for group in self._memory.objects.queues[name].groups:
            for one in peers.demand.pod_sets:
                if any(ask.resource in group.covered for ask in one.pod_set.devices):
                    return None
                asked = [
                    (resource, amount * one.count)
                    for resource, amount in one.pod_set.requests.items()
                    if resource in group.covered
                ]
                short = []
                for flavor in group.flavors:
                    for resource, amount in asked:
                        place = FlavorResource(flavor.flavor, resource)
                        if amount > self.most(name, place, priority):
                            short.append((place, amount))
                            break
                    else:
                        break
                else:
                    return tuple(short)
        return None

    def _stays_in_quota(self, name: QueueName, node: Node) -> bool:
        """Say whether workloads of other queues are preempted only within the queue's own quota.

        That is not so with fair sharing, nor if a cohort below the root may have quota of its own.
        """
        flat = node.parent is None or node.parent.parent is None
        policies = self._memory.objects.queues[name].preemption
        never = policies.borrow_within_cohort is PreemptionPolicy.NEVER
        return flat and never and self._memory.settings.fair_sharing is None

    def _borrowers(self) -> set[QueueName]:
        """Return the queues that borrow anything; the first call also sums what they hold."""
        if self._borrowing is None:
            self._borrowing = set()
            for name in self._memory.trees.members[self._root]:
                node = self._memory.tree.queue(name)
                if any(cell.usage > cell.quota for cell in node.cells.values()):
                    self._borrowing.add(name)
                    for resource, held in self._memory.ledger.exposed(name).items():
                        total = self._total.setdefault(resource, {})
                        for priority, amount in held.items():
                            total[priority] = total.get(priority, 0) + amount
        return self._borrowing
