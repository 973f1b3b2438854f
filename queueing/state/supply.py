"""What one could get at most: what is free, and what all victims that policies allow hold.

An upper bound, so that those whom nothing can help yet are not judged at each release: to free an
amount anywhere in a tree makes at most that amount available in any queue of it; victims are of
the own queue, or of queues that borrow something; and each pod set needs, in each resource group,
one flavor that has all of it. Whatever else a judgement asks for only makes it harder.
"""

from collections.abc import Iterator

from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.names import FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import Node
from queueing.state.memory import Memory
from queueing.state.pending import Peers

ByPriority = dict[FlavorResource, dict[int, int]]


class Supply:
    """Answers for one tree of cohorts while nothing in it changes."""

    __slots__ = ("_borrowers", "_held", "_memory", "_most", "_root")

    def __init__(self, memory: Memory, root: Node) -> None:
        self._memory, self._root = memory, root
        self._borrowers: list[QueueName] | None = None
        self._held: dict[QueueName, ByPriority] = {}
        self._most: dict[tuple[QueueName, FlavorResource, int], tuple[int, int, int]] = {}

    def may_cover(self, peers: Peers) -> bool:
        """Say whether peers might get what they ask for; False is certain."""
        if peers.demand.may_shrink:
            return True
        queue = self._memory.objects.queues[peers.queue.name]
        return all(
            any(
                all(
                    self._covers(peers, FlavorResource(flavor.flavor, name), amount)
                    for name, amount in asked
                )
                for flavor in group.flavors
            )
            for group in queue.groups
            for asked in _asked(peers, group.covered)
        )

    def _covers(self, peers: Peers, resource: FlavorResource, amount: int) -> bool:
        alone, within, all_ = self._most_of(peers, resource)
        return amount <= alone or (amount <= within and amount <= all_)

    def _most_of(self, peers: Peers, resource: FlavorResource) -> tuple[int, int, int]:
        """Return what can be had without victims elsewhere, up to where there are any, and with."""
        name, priority = peers.queue.name, peers.priority
        known = self._most.get((name, resource, priority))
        if known is not None:
            return known
        policies = self._memory.objects.queues[name].preemption
        node = self._memory.tree.queue(name)
        own = self._freed(name, resource, priority, policies.within_cluster_queue)
        alone = most = node.available(resource) + own
        if policies.reclaim_within_cohort is not PreemptionPolicy.NEVER:
            for other in self._borrowing():
                if other != name:
                    most += self._freed(other, resource, priority, policies.reclaim_within_cohort)
        within = most
        if self._never_while_borrowing(node, policies):
            within = node.quota(resource) - node.usage(resource) + own
        found = self._most[name, resource, priority] = alone, within, most
        return found

    def _never_while_borrowing(self, node: Node, policies: Preemption) -> bool:
        """Say whether others are preempted only for what stays within the queue's own quota.

        Not with fair sharing; nor where a cohort between has quota by which it may reclaim.
        """
        flat = node.parent is None or node.parent.parent is None
        never = policies.borrow_within_cohort is PreemptionPolicy.NEVER
        return flat and never and self._memory.settings.fair_sharing is None

    def _freed(
        self, name: QueueName, resource: FlavorResource, priority: int, policy: PreemptionPolicy
    ) -> int:
        """Sum what those of a queue hold whom a policy exposes, equals counted as newer."""
        if policy is PreemptionPolicy.NEVER:
            return 0
        held = self._held_in(name).get(resource, {})
        if policy is PreemptionPolicy.ANY:
            return sum(held.values())
        limit = priority if policy is PreemptionPolicy.LOWER_PRIORITY else priority + 1
        return sum(amount for other, amount in held.items() if other < limit)

    def _held_in(self, name: QueueName) -> ByPriority:
        held = self._held.get(name)
        if held is None:
            held = self._held[name] = {}
            for holder in self._memory.ledger.holders(name):
                for resource, amount in holder.usage.items():
                    sums = held.setdefault(resource, {})
                    sums[holder.priority] = sums.get(holder.priority, 0) + amount
        return held

    def _borrowing(self) -> list[QueueName]:
        if self._borrowers is None:
            tree = self._memory.tree
            self._borrowers = [
                name
                for name in self._memory.members[self._root]
                if any(tree.queue(name).borrowed(one) for one in tree.queue(name).resources())
            ]
        return self._borrowers


def _asked(
    peers: Peers, covered: tuple[ResourceName, ...]
) -> Iterator[list[tuple[ResourceName, int]]]:
    """Give, pod set by pod set, what is asked of a resource group."""
    for one in peers.demand.pod_sets:
        yield [
            (name, amount * one.count)
            for name, amount in one.pod_set.requests.items()
            if name in covered
        ]
