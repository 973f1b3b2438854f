"""The supply: the most that a workload could get, from free quota and all possible victims.

It is an upper bound. A workload that requests more cannot be admitted now, so it is not judged at
each release. The bound holds because:

- freeing an amount anywhere in a tree makes at most that amount available in any queue of it;
- victims are in the workload's own queue, or in queues that borrow something;
- each pod set needs, in each resource group, one flavor that has all that it requests.

All other conditions of a judgement can only prevent an admission.
"""

from collections.abc import Iterator, Mapping

from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.preemption.borrowers import freed
from queueing.core.preemption.reach import limit_of
from queueing.core.quota.node import Node
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Peers
from queueing.state.queues.shelf import Bound

NOTHING: Mapping[int, int] = {}


class Supply:
    """The supply of one tree, valid while nothing in the tree changes."""

    __slots__ = ("_borrowing", "_memory", "_most", "_root", "_total")

    def __init__(self, memory: Memory, root: Node) -> None:
        self._memory, self._root = memory, root
        self._borrowing: set[QueueName] | None = None
        self._total: dict[FlavorResource, dict[int, int]] = {}
        self._most: dict[tuple[QueueName, FlavorResource, int], int] = {}

    def may_cover(self, peers: Peers) -> bool:
        """Say whether peers might get what they request; False is certain."""
        return self.missing(peers) is None

    def missing(self, peers: Peers) -> list[tuple[FlavorResource, int]] | None:
        """Return None if peers might be admitted now, else the amounts that they wait for.

        They cannot be admitted before at least one of these amounts can be had. An empty list means
        that no amount would help.
        """
        if peers.demand.may_shrink or peers.demand.claims:
            return None
        name, priority = peers.queue, peers.priority
        for group in self._memory.objects.queues[name].groups:
            for asked in _asked(peers, group.covered):
                missing = []
                for flavor in group.flavors:
                    short = self._first_short(name, priority, flavor.flavor, asked)
                    if short is None:
                        break
                    missing.append(short)
                else:
                    return missing
        return None

    def bound(self, name: QueueName) -> Bound:
        """Return a function with the most that can be had in a queue, valid like this supply."""
        node = self._memory.tree.queue(name)
        cells = node.cells

        def most(resource: FlavorResource, priority: int | None) -> int:
            if priority is not None:
                return self.most(name, resource, priority)
            free = (cells.get(resource) or node.cell(resource)).available()
            return max(free, 0)

        return most

    def most(self, name: QueueName, resource: FlavorResource, priority: int | None) -> int:
        """Return the most that can be had of a flavor-resource in a queue.

        With a priority, what possible victims hold is included.
        """
        if priority is None:
            cell = self._memory.tree.queue(name).cell(resource)
            return max(0, cell.available())
        key = (name, resource, priority)
        known = self._most.get(key)
        if known is None:
            known = self._most[key] = self._most_with_victims(name, resource, priority)
        return known

    def _first_short(
        self,
        name: QueueName,
        priority: int,
        flavor: FlavorName,
        asked: list[tuple[ResourceName, int]],
    ) -> tuple[FlavorResource, int] | None:
        """Return the first requested amount that cannot be had of a flavor; None if all can."""
        for one, amount in asked:
            resource = FlavorResource(flavor, one)
            if amount > self.most(name, resource, priority):
                return resource, amount
        return None

    def _most_with_victims(self, name: QueueName, resource: FlavorResource, priority: int) -> int:
        """Return the most that can be had with victims: of the own queue only, or of all queues.

        With victims of other queues, it is often limited to the queue's own quota.
        """
        policies = self._memory.objects.queues[name].preemption
        node = self._memory.tree.queue(name)
        held = self._memory.ledger.exposed(name).get(resource, NOTHING)
        own = _freed(held, priority, policies.within_cluster_queue)
        alone = node.available(resource) + own
        reclaim = policies.reclaim_within_cohort
        if reclaim is PreemptionPolicy.NEVER:
            return alone
        borrowing = self._borrowers()
        most = alone + _freed(self._total.get(resource, NOTHING), priority, reclaim)
        if name in borrowing:
            most -= _freed(held, priority, reclaim)
        if self._never_while_borrowing(node, policies):
            most = min(most, node.quota(resource) - node.usage(resource) + own)
        return max(alone, most)

    def _never_while_borrowing(self, node: Node, policies: Preemption) -> bool:
        """Say whether other queues' workloads are preempted only within the queue's own quota.

        That is not so with fair sharing, nor if a cohort below the root may have quota of its own.
        """
        flat = node.parent is None or node.parent.parent is None
        never = policies.borrow_within_cohort is PreemptionPolicy.NEVER
        return flat and never and self._memory.settings.fair_sharing is None

    def _borrowers(self) -> set[QueueName]:
        """Return the queues that borrow anything; the first call also sums what they hold."""
        if self._borrowing is None:
            self._borrowing = set()
            for name in self._memory.members[self._root]:
                node = self._memory.tree.queue(name)
                if any(cell.usage > cell.quota for cell in node.cells.values()):
                    self._borrowing.add(name)
                    for resource, held in self._memory.ledger.exposed(name).items():
                        total = self._total.setdefault(resource, {})
                        for priority, amount in held.items():
                            total[priority] = total.get(priority, 0) + amount
        return self._borrowing


def _freed(held: Mapping[int, int], priority: int, policy: PreemptionPolicy) -> int:
    """Return what workloads that a policy exposes hold; equals are taken to be newer."""
    return freed(held, limit_of(policy, priority))


def _asked(
    peers: Peers, covered: tuple[ResourceName, ...]
) -> Iterator[list[tuple[ResourceName, int]]]:
    """Yield, for each pod set, what it requests of a resource group."""
    for one in peers.demand.pod_sets:
        yield [
            (name, amount * one.count)
            for name, amount in one.pod_set.requests.items()
            if name in covered
        ]
