"""Which workload takes the turn of its queue in a round when the head turns out to be hopeless.

A head that neither fits nor finds victims is set aside before the round is decided, and the next
workload of its queue is nominated in its place. Otherwise each such head would cost its queue one
turn when it is first judged. Decisions would then depend on which heads had been judged before, and
a new leader, which has judged none, would decide differently from the old one. See
docs/decisions/0033.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from queueing.core.decisions import Decision
from queueing.core.names import Key, QueueName
from queueing.core.preemption.effort import Effort
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

LOOKS_PER_HEAD = 16
"""Looking at so many candidates of preemption counts in a budget as much as judging one head."""
HEADS_PER_HOPELESS = 8
"""Selecting so many heads again after a cut costs about as much as one hopeless head."""


class Limits(NamedTuple):
    """The limits of one round, from the budget of its cycle."""

    successors: int
    """How many heads may take over the turn of a hopeless head."""
    weight: int
    """What is left of the budget, in judged heads: see `LOOKS_PER_HEAD`."""


class Succession:
    """Replaces the hopeless heads of one round by the next of their queues, within `limits`.

    `nominations` of `queueing.core.rounds` reads `heads` and `along`, and calls `after` for each
    hopeless head. `end` is called when all heads are nominated.

    Hopeless heads stay set aside after a cut, but all others are nominated again. So a round is cut
    only when hopeless heads were the larger part of its cost; otherwise it could become much more
    expensive in portions.
    """

    __slots__ = (
        "_checks_quota",
        "_effort",
        "_heads",
        "_hopeless",
        "_judged",
        "_limits",
        "_looks_before",
        "_memory",
        "_now",
        "_selection",
        "_told",
        "_vain_looks",
        "is_cut",
        "left_out",
    )

    def __init__(
        self,
        memory: Memory,
        selection: Selection,
        effort: Effort,
        *,
        now: float,
        limits: Limits | None,
    ) -> None:
        self._memory, self._selection, self._effort = memory, selection, effort
        self._now, self._limits = now, limits
        self._judged = self._hopeless = self._vain_looks = 0
        """Nominated heads, hopeless ones of them, and the candidates that were looked at for these.
        """
        self._looks_before = effort.looks
        """`effort.looks` before the present head was nominated."""
        self.left_out: set[Node] = set()
        """Roots of trees that are left to a later round, because the budget is used up."""
        self._heads: dict[QueueName, Item] = {head_queue(one): one for one in selection.items}
        self._told: dict[Key, Decision] = {}
        self._checks_quota = memory.credits.allowance is None
        """Whether the quota alone may show that a head is hopeless; False where budgets apply."""
        self.is_cut = False
        """Whether the round must be left undecided, because a limit is used up."""

    def heads(self) -> Iterator[Head]:
        """Yield the first head of each queue that has to be judged, tree by tree.

        When the budget is used up, the remaining trees are left out, or the round is cut.
        """
        before, items = None, list(self._heads.values())
        for at, item in enumerate(items):
            root = self._memory.roots[head_queue(item)]
            if root is not before and before is not None and self._has_spent_all():
                self._leave_out(items[at:])
                return
            if self._is_worn_out():
                self.is_cut = True
                return
            before = root
            first = self._pass_over(item)
            if first is not None:
                yield self._prepare(first)

    def along(self) -> Iterator[Head]:
        """Yield the companions: standing workloads that are judged along with the heads.

        Left out are those that became the head of their queue in this round, and those that were
        its head and turned out to be hopeless, since these are standing no longer.
        """
        if self.is_cut:
            return
        heads, memory = set(map(id, self._heads.values())), self._memory
        self._selection.companions = [
            one
            for one in self._selection.companions
            if id(one) not in heads
            and one.fact.key in memory.standing
            and memory.roots[head_queue(one)] not in self.left_out
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
        self._hopeless += 1
        self._vain_looks += self._effort.looks - self._looks_before
        settle_hopeless(self._memory, judgement, self._now)
        found = self._next(judgement.head.queue, judgement.decision)
        first = None if found is None else self._pass_over(found)
        return None if first is None else self._prepare(first)

    def _pass_over(self, item: Item) -> Item | None:
        """Return the first of `item` and those after it in its queue that the quota may allow."""
        if not self._checks_quota:
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
        limits = self._limits
        if limits is not None and (
            self._selection.successors == limits.successors or self._is_worn_out()
        ):
            self.is_cut = True
            return None
        self._selection.successors += 1
        self._heads[name] = found
        return found

    def _has_spent_all(self) -> bool:
        """Say whether the heads nominated so far used up what was left of the budget."""
        if self._limits is None:
            return False
        return self._judged + self._effort.looks // LOOKS_PER_HEAD >= self._limits.weight

    def _is_worn_out(self) -> bool:
        """Say whether hopeless heads alone used up what was left, and cost more than the others."""
        if self._limits is None or not self._hopeless:
            return False
        spent = self._judged + self._effort.looks // LOOKS_PER_HEAD
        vain = self._hopeless + self._vain_looks // LOOKS_PER_HEAD
        taken_again = self._selection.heads // HEADS_PER_HOPELESS
        return vain >= max(self._limits.weight, spent - vain, taken_again)

    def _leave_out(self, items: Sequence[Item]) -> None:
        """Leave these heads to a later round, which begins with their trees."""
        for item in items:
            name = head_queue(item)
            del self._heads[name]
            self.left_out.add(self._memory.roots[name])
        self._memory.cursor = self._memory.roots[head_queue(items[0])].path()

    def _prepare(self, item: Item) -> Head:
        self._judged += 1
        self._looks_before = self._effort.looks
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
