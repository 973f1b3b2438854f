"""Which workload takes the turn of its queue in a round when the head turns out to be hopeless.

A head that neither fits nor finds victims is set aside before the round is decided, and the next
workload of its queue is nominated in its place. Otherwise each such head would cost its queue one
turn when it is first judged. Decisions would then depend on which heads had been judged before, and
a new leader, which has judged none, would decide differently from the old one. See
docs/decisions/0033.
"""

from collections.abc import Collection, Iterator

from queueing.core.decisions import Decision
from queueing.core.names import Key, QueueName
from queueing.core.quota.node import Node
from queueing.core.rounds import Head, Judgement
from queueing.state.cycle.hopeless import set_aside_if_hopeless
from queueing.state.cycle.selection import (
    Selection,
    head_of,
    head_queue,
    is_patient,
    judgeable_head,
)
from queueing.state.cycle.settlement import settle_hopeless
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.state.usage.changes import UsageChanges


class Succession:
    """Replaces the hopeless heads of one round by the next of their queues, at most `limit` times.

    `nominations` of `queueing.core.rounds` reads `heads` and `along`, and calls `after` for each
    hopeless head. `end` is called when all heads are nominated.
    """

    __slots__ = ("_heads", "_limit", "_looks", "_memory", "_now", "_selection", "_told", "is_cut")

    def __init__(
        self, memory: Memory, selection: Selection, *, now: float, limit: int | None
    ) -> None:
        self._memory, self._selection = memory, selection
        self._now, self._limit = now, limit
        self._heads: dict[QueueName, Item] = {head_queue(one): one for one in selection.items}
        self._told: dict[Key, Decision] = {}
        self._looks = memory.credits.allowance is None
        """Whether the quota alone may show that a head is hopeless; False where budgets apply."""
        self.is_cut = False
        """Whether the round must be left undecided, because `limit` is used up."""

    def heads(self) -> Iterator[Head]:
        """Yield the first head of each queue that has to be judged."""
        for item in list(self._heads.values()):
            first = self._pass_over(item)
            if first is not None:
                yield self._prepare(first)

    def along(self) -> Iterator[Head]:
        """Yield the companions: standing workloads that are judged along with the heads.

        Left out are those that became the head of their queue in this round, and those that were
        its head and turned out to be hopeless, since these are standing no longer.
        """
        heads, standing = set(map(id, self._heads.values())), self._memory.standing
        self._selection.companions = [
            one
            for one in self._selection.companions
            if id(one) not in heads and one.fact.key in standing
        ]
        for item in self._selection.companions:
            item.progress = None
            yield head_of(self._memory, item)

    def end(self) -> list[Decision]:
        """Store the final heads in the selection, and return the decisions on hopeless heads.

        A hopeless head that became a head again in this round, to try another flavor, is left out,
        because the round itself decides on it.
        """
        self._selection.items = list(self._heads.values())
        if not self.is_cut:
            for item in self._selection.items:
                self._told.pop(item.fact.key, None)
        return list(self._told.values())

    def after(self, judgement: Judgement) -> Head | None:
        """Set a hopeless head aside; return the next head of its queue, None if there is none."""
        settle_hopeless(self._memory, judgement, self._now)
        found = self._next(judgement.head.queue, judgement.decision)
        first = None if found is None else self._pass_over(found)
        return None if first is None else self._prepare(first)

    def _pass_over(self, item: Item) -> Item | None:
        """Return the first of `item` and those after it in its queue that the quota may allow."""
        if not self._looks:
            return item
        name, found = head_queue(item), item
        while (wait := set_aside_if_hopeless(self._memory, found, self._now)) is not None:
            successor = self._next(name, wait)
            if successor is None:
                return None
            found = successor
        return found

    def _next(self, name: QueueName, decision: Decision) -> Item | None:
        """Store the decision on a queue's head, and return the item that takes over its turn."""
        del self._heads[name]
        self._told[decision.workload] = decision
        found = judgeable_head(self._memory, self._memory.queue(name), self._selection)
        if found is None:
            return None
        if self._selection.successors == self._limit:
            self.is_cut = True
            return None
        self._selection.successors += 1
        self._heads[name] = found
        return found

    def _prepare(self, item: Item) -> Head:
        return head_of(self._memory, item, patient=is_patient(item))


def withhold(memory: Memory) -> None:
    """Keep back the usage changes of the hopeless heads of a round that the budget interrupted.

    Without a budget, the workloads that these changes wake are judged after the round, on the quota
    that it left. Keeping the changes back until the round is decided gives the same order.
    """
    told = memory.ledger.take_changes()
    for name in {**told.released, **told.claimed}:
        memory.withheld.setdefault(name, UsageChanges()).add(name, told)


def hand_on(memory: Memory, roots: Collection[Node | None] | None = None) -> bool:
    """Move the changes kept back to the ledger's; say whether there were any.

    With `roots`, only those of queues in these trees.
    """
    heard = [name for name in memory.withheld if roots is None or memory.roots.get(name) in roots]
    for name in heard:
        memory.ledger.changes.add(name, memory.withheld.pop(name))
    return bool(heard)
