"""What was found of the heads of one tree, while nothing in that tree is used otherwise.

The rounds of a cycle judge again whoever waits for victims to leave. Most rounds change nothing in
most trees: then what a head would get is what it would have got the round before, and what is
decided of it is the same wherever the same was taken by others before it.

Invariant: a recall is thrown away with the first change of anything that is charged in its tree,
and all are with a change of any object, of credits, and of time. So whatever a nomination or a
ruling looks at is the same for as long as it is kept.
"""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.decisions import Admit
from queueing.core.entries import NOTHING, Entry, Head, Ruling
from queueing.core.fair_sharing.order import Contender, Score
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.quota.node import Node

Sums = frozenset[tuple[tuple[QueueName, FlavorResource], int]]
"""Amounts by queue and flavor-resource."""


class Taken(NamedTuple):
    """All that was taken so far in a round.

    It is the same in whichever order it was taken, and by whom. For whoever comes next looks at
    usage and at victims: at sums and at a set.
    """

    claims: Sums = frozenset()
    admitted: Sums = frozenset()
    victims: frozenset[Uid] = frozenset()

    def and_by(self, ruling: Ruling) -> "Taken":
        """Return what was taken once a ruling has taken its part."""
        entry = ruling.entry
        queue, leave = entry.head.queue, entry.targets if ruling.preemptions else ()
        admitted = entry.usage if isinstance(ruling.decision, Admit) else NOTHING
        return Taken(
            _added(self.claims, queue, ruling.claims),
            _added(self.admitted, queue, admitted),
            self.victims.union(target.holder.uid for target in leave),
        )


def _added(sums: Sums, queue: QueueName, usage: Mapping[FlavorResource, int]) -> Sums:
    if not usage:
        return sums
    total = dict(sums)
    for resource, amount in usage.items():
        place = queue, resource
        total[place] = total.get(place, 0) + amount
    return frozenset(total.items())


class Step(NamedTuple):
    """What was decided of an entry, and at which stage the round was then."""

    entry: Entry
    ruling: Ruling
    stage: int


class Recall:
    """Entries by workload; rulings and scores by the stage of the round, and whose they are.

    The stage is a number for all that was taken so far; 0 is nothing.
    """

    __slots__ = ("_entries", "_scores", "_stage", "_stages", "_steps", "_taken")

    def __init__(self) -> None:
        self._entries: dict[Uid, list[Entry]] = {}
        """One for each head that a workload was: with flavors left to try it is another one."""
        self._steps: dict[tuple[int, int], Step] = {}
        """By stage and the identity of the entry, which is kept alive in the step."""
        self._scores: dict[tuple[int, Node, Uid], tuple[Contender, Score]] = {}
        self._taken = [Taken()]
        """By stage."""
        self._stages = {Taken(): 0}
        self._stage = 0

    def begin_round(self) -> None:
        """Note that nothing was taken yet."""
        self._stage = 0

    def entry(self, head: Head) -> Entry | None:
        """Return how a head was nominated before; None if it was not, or not as it is now."""
        for known in self._entries.get(head.workload.uid, ()):
            if known.head == head:
                return known
        return None

    def nominated(self, entry: Entry) -> None:
        """Note a nomination."""
        self._entries.setdefault(entry.head.workload.uid, []).append(entry)

    def ruling(self, entry: Entry) -> Ruling | None:
        """Return what was decided of the very same entry at this stage of a round."""
        step = self._steps.get((self._stage, id(entry)))
        return None if step is None else step.ruling

    def decided(self, entry: Entry, ruling: Ruling) -> None:
        """Note what was decided of an entry at this stage, and go on to the next."""
        place = self._stage, id(entry)
        step = self._steps.get(place)
        if step is None or step.ruling is not ruling:
            stage = self._after(ruling) if ruling.takes_something else self._stage
            step = self._steps[place] = Step(entry, ruling, stage)
        self._stage = step.stage

    def score(self, child: Node, contender: Contender) -> Score | None:
        """Return what a contender scored before for a node, at this stage; None if it did not."""
        known = self._scores.get((self._stage, child, contender.uid))
        return known[1] if known is not None and known[0] == contender else None

    def scored(self, child: Node, contender: Contender, score: Score) -> None:
        """Note a score at this stage."""
        self._scores[self._stage, child, contender.uid] = contender, score

    def _after(self, ruling: Ruling) -> int:
        """Return the stage to which a ruling leads from this one."""
        taken = self._taken[self._stage].and_by(ruling)
        stage = self._stages.get(taken)
        if stage is None:
            stage = self._stages[taken] = len(self._taken)
            self._taken.append(taken)
        return stage


Recalls = Mapping[Node, Recall]
"""By the root of the tree."""
