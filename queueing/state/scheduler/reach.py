"""What a workload lacks that waits: an amount that nothing in its tree could give it now.

It waits on a shelf for that amount, and is not judged at each event.
"""

from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption import reach
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Lacks, Peers


class Reach:
    """The bounds in all trees, valid while nothing in them changes."""

    __slots__ = ("_memory", "_reach", "_tree")

    def __init__(self, memory: Memory) -> None:
        fair = memory.settings.fair_sharing is not None
        self._memory, self._tree, self._reach = memory, memory.tree, reach.Reach(by_shares=fair)

    def most(self, name: QueueName, resource: FlavorResource, priority: int | None) -> int:
        """Return the most that can be had in a queue, of free quota and from possible victims.

        Without a priority, there are no victims.
        """
        node = self._tree.queue(name)
        if priority is None:
            return (node.cells.get(resource) or node.cell(resource)).available()
        policies = self._memory.objects.queues[name].preemption
        return self._reach.most(node, resource, priority, policies, self._memory.ledger)

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
