"""What workloads that may not borrow hold, by ClusterQueue (`nonBorrowingMinPriority`).

Sums are updated by the charges that changed. Invariant: as a cycle begins, what a queue's restraint
holds is the sum over the charges that it concerns; `drifted` checks that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.core.credits.restraint import Restraint
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.core.sharing import Together, Use
from queueing.state.credits.policies import Policies
from queueing.state.usage.charges import Charge


@dataclass(slots=True)
class Restraints:
    """The restraints of all ClusterQueues whose policy has that rule; without one it is idle."""

    policies: Policies
    by_queue: dict[QueueName, Restraint] = field(default_factory=dict)
    _counted: dict[Key, tuple[QueueName, Use]] = field(default_factory=dict)
    """Workloads that are counted in a restraint, with their queue and what they hold."""
    _stirred: dict[Key, None] | None = None
    """Workloads whose charge may have changed since the last cycle; None for all."""
    _taken: dict[QueueName, None] = field(default_factory=dict)
    """Queues in which the last cycle admitted a workload that may not borrow."""

    @property
    def any(self) -> bool:
        """Whether any policy has the rule, or had it until now."""
        return bool(self.by_queue) or self.policies.restrains

    def stir(self, key: Key) -> None:
        """Note that the charge of a workload may have changed."""
        if self._stirred is not None:
            self._stirred[key] = None

    def reshape(self) -> None:
        """Note that policies or quotas changed: all charges are counted anew."""
        self._stirred = None

    def measure(self, tree: QuotaTree, charges: Mapping[Key, Charge]) -> bool:
        """Bring the sums up to date; say whether any may have become smaller, so more may fit."""
        if not self.any:
            return False
        if self._stirred is None:
            self._begin(tree)
            self._follow(charges, charges)
            return True
        before = {name: self.by_queue[name].forget_taken() for name in self._taken}
        self._taken.clear()
        for key in self._stirred:
            known = self._counted.get(key)
            if known is not None and known[0] not in before:
                before[known[0]] = dict(self.by_queue[known[0]].held)
        self._follow(self._stirred, charges)
        return any(
            self.by_queue[name].held.get(key, 0) < amount
            for name, held in before.items()
            for key, amount in held.items()
        )

    def drifted(self, charges: Mapping[Key, Charge]) -> list[QueueName]:
        """Return the queues whose sums differ from the charges, disregarding pending changes.

        For checks only: it looks at all charges.
        """
        noted = self._stirred
        if noted is None:
            return []
        plain = {name: Together() for name in self.by_queue}
        for key, charge in charges.items():
            mine = self.by_queue.get(charge.holder.queue)
            if key not in noted and mine is not None and mine.concerns(charge.holder.priority):
                plain[charge.holder.queue].add(charge.holder.use)
        for name, use in (self._counted[key] for key in noted if key in self._counted):
            plain[name].add(use)
        for name, one in self.by_queue.items():
            for use in one.taken:
                plain[name].add(use)
        return [
            name
            for name, one in self.by_queue.items()
            if any(
                one.held.get(key, 0) != plain[name].total.get(key, 0)
                for key in {**one.held, **plain[name].total}
            )
        ]

    def _begin(self, tree: QuotaTree) -> None:
        """Make empty restraints for the present policies and quotas."""
        self._counted.clear()
        self._taken.clear()
        self.by_queue = {
            QueueName(node.name): Restraint(
                node, policy.non_borrowing_min_priority, on_take=self._note_taken
            )
            for root, policy in self.policies.trees(tree)
            if policy.non_borrowing_min_priority is not None
            for node in tree.queues_of(root)
        }

    def _follow(self, keys: Iterable[Key], charges: Mapping[Key, Charge]) -> None:
        """Count the charges of these workloads anew."""
        for key in keys:
            known = self._counted.pop(key, None)
            if known is not None:
                self.by_queue[known[0]].discount(known[1])
            charge = charges.get(key)
            mine = None if charge is None else self.by_queue.get(charge.holder.queue)
            if charge is not None and mine is not None and mine.concerns(charge.holder.priority):
                mine.count(charge.holder.use)
                self._counted[key] = charge.holder.queue, charge.holder.use
        self._stirred = {}

    def _note_taken(self, queue: QueueName) -> None:
        self._taken[queue] = None
