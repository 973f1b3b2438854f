"""What those hold who may not borrow, by ClusterQueue: worked out anew in each cycle."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.credits.restraint import Restraint, add
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.terms import Terms
from queueing.state.ledger import Charge


@dataclass(slots=True)
class Restraints:
    """The rule of every policy that has one. Without one it looks at nothing."""

    terms: Terms
    by_queue: dict[QueueName, Restraint] = field(default_factory=dict)
    reshaped: bool = False
    """Policies or quotas changed since the last cycle."""

    def measure(self, tree: QuotaTree, charges: Mapping[Key, Charge]) -> bool:
        """Work out what is held as of now; say whether anybody may have room who had none."""
        if not self.by_queue and not self.terms.restrains:
            return False
        before, loosened = self.by_queue, self.reshaped
        self.reshaped = False
        self.by_queue = {
            QueueName(node.name): Restraint(node, policy.non_borrowing_min_priority, {})
            for root, policy in self.terms.trees(tree)
            if policy.non_borrowing_min_priority is not None
            for node in tree.queues_of(root)
        }
        for charge in charges.values():
            mine = self.by_queue.get(charge.holder.queue)
            if mine is not None and mine.concerns(charge.holder.priority):
                add(mine.held, charge.holder.usage)
        return loosened or any(
            name not in self.by_queue or self.by_queue[name].held.get(key, 0) < amount
            for name, one in before.items()
            for key, amount in one.held.items()
        )
