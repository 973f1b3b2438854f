"""What a workload lacks that waits: an amount that nothing in its tree could give it now.

It waits on a shelf for that amount, and is not judged at each event.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.names import FlavorResource, QueueName
from queueing.core.preemption import reach
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Peers, Slot


@dataclass(slots=True, eq=False)
class Reach:
    """The bounds in all trees, valid while nothing in them changes."""

    memory: Memory
    _bounds: reach.Reach = field(init=False)

    def __post_init__(self) -> None:
        self._bounds = reach.Reach(by_shares=self.memory.settings.fair_sharing is not None)

    def most(self, name: QueueName, resource: FlavorResource, priority: int | None) -> int:
        """Return the most that can be had in a queue, of free quota and from possible victims.

        Without a priority, there are no victims.
        """
        objects = self.memory.objects
        node = objects.tree.queue(name)
        if priority is None:
            return (node.cells.get(resource) or node.cell(resource)).available()
        policies = objects.queues[name].preemption
        return self._bounds.most(node, resource, priority, policies, self.memory.ledger)

    def missing(self, peers: Peers) -> Mapping[Slot, int] | None:
        """Return the shelves of peers, with amounts before one of which can be had they must wait.

        None if they might be admitted now. Empty means that no amount would help.
        """
        rules, settings = self.memory.objects.rules[peers.queue], self.memory.settings
        outline = rules.offer.outline(peers.demand, settings.quota_check)
        if outline.may_shrink or peers.demand.claims:
            return None
        priority = None if rules.never_preempts else peers.priority
        for ask in (one for part in outline.parts for one in part.asks):
            short = dict[Slot, int]()
            for option, obstacle in zip(ask.group.options, ask.obstacles, strict=True):
                if obstacle is not None:
                    continue
                for name, amount in ask.amounts_in(option.name):
                    resource = option.resources[name]
                    if amount > self.most(peers.queue, resource, priority):
                        short[Slot(None, resource, priority)] = amount
                        break
                else:
                    break
            else:
                return short
        return None
