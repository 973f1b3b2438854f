"""What workloads that may not borrow hold, by ClusterQueue (`nonBorrowingMinPriority`).

Sums are updated by the charges that changed. Invariant: as a cycle begins, what a queue's restraint
holds is the sum over the charges that it concerns; `drifted` checks that.
"""

from collections.abc import Collection, Iterable, Mapping

from queueing.core.credits.restraint import Restraint
from queueing.core.names import Key, QueueName
from queueing.core.quota.node import Node
from queueing.core.sharing import Together, Use
from queueing.state.usage.charges import Charge


class Restraints:
    """The restraints of all ClusterQueues whose policy has that rule."""

    def __init__(self) -> None:
        self.by_queue: dict[QueueName, Restraint] = {}
        self._counted: dict[Key, tuple[QueueName, Use]] = {}
        """Workloads that are counted in a restraint, with their queue and what they hold."""

    def begin(self, rules: Iterable[tuple[Node, int]], charges: Mapping[Key, Charge]) -> None:
        """Take over the present rules, by ClusterQueue, and count all charges anew.

        A rule is the lowest priority of those who may not borrow.
        """
        self._counted.clear()
        self.by_queue = {QueueName(node.name): Restraint(node, lowest) for node, lowest in rules}
        if self.by_queue:
            self._follow(charges, charges)

    def measure(self, charges: Mapping[Key, Charge], stirred: Collection[Key]) -> bool:
        """Bring the sums up to date; say whether any may have become smaller, so more may fit.

        `stirred` are the workloads whose charge may have changed.
        """
        before = {name: one.forget_taken() for name, one in self.by_queue.items() if one.taken}
        for key in stirred:
            known = self._counted.get(key)
            if known is not None and known[0] not in before:
                before[known[0]] = dict(self.by_queue[known[0]].held)
        self._follow(stirred, charges)
        return any(
            self.by_queue[name].held.get(key, 0) < amount
            for name, held in before.items()
            for key, amount in held.items()
        )

    def drifted(self, charges: Mapping[Key, Charge], noted: Collection[Key]) -> list[QueueName]:
        """Return the queues whose sums differ from the charges, disregarding noted changes.

        For checks only: it looks at all charges.
        """
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
