"""A memo of nominations, rulings and scores in one tree, valid while its charges do not change.

Every round of a cycle judges the standing workloads of its trees again, but most rounds change
nothing in most trees. Then the nomination of a head is the same as in the round before, and so is
its ruling if the same was taken by other entries before it (docs/decisions/0040, 0093).

Invariant: a recall is dropped with the first change of anything that is charged in its tree; all
recalls are dropped with a change of any object, of credits, and of time. So all that nominations
and rulings depend on is the same while a recall is kept.
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
    """All that was taken so far in a round, in any order and by any entries.

    Later entries depend only on usage and victims, so sums and a set are enough.
    """

    claims: Sums = frozenset()
    admitted: Sums = frozenset()
    victims: frozenset[Uid] = frozenset()

    def and_by(self, ruling: Ruling) -> "Taken":
        """Return this with what a ruling takes added."""
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
    """A ruling on an entry, and the stage of the round after it."""

    entry: Entry
    ruling: Ruling
    stage: int


class Recall:
    """Entries by workload; rulings and scores by entry and by the stage of the round.

    A stage is a number for a value of `Taken`: 0 is a round in which nothing was taken yet.
    """

    __slots__ = ("_entries", "_scores", "_stage", "_stages", "_steps", "_taken")

    def __init__(self) -> None:
        self._entries: dict[Uid, list[Entry]] = {}
        """One for each different head of a workload: with other progress it is another head."""
        self._steps: dict[tuple[int, int], Step] = {}
        """By stage and `id` of the entry; the step keeps the entry alive."""
        self._scores: dict[tuple[int, Node, Uid], tuple[Contender, Score]] = {}
        self._taken = [Taken()]
        """What was taken, by stage."""
        self._stages = {Taken(): 0}
        self._stage = 0

    def begin_round(self) -> None:
        """Return to stage 0: nothing is taken yet."""
        self._stage = 0

    def entry(self, head: Head) -> Entry | None:
        """Return the earlier nomination of an equal head; None if there is none."""
        for known in self._entries.get(head.workload.uid, ()):
            if known.head == head:
                return known
        return None

    def nominated(self, entry: Entry) -> None:
        """Store a nomination."""
        self._entries.setdefault(entry.head.workload.uid, []).append(entry)

    def ruling(self, entry: Entry) -> Ruling | None:
        """Return the earlier ruling on the same entry at this stage; None if there is none."""
        step = self._steps.get((self._stage, id(entry)))
        return None if step is None else step.ruling

    def decided(self, entry: Entry, ruling: Ruling) -> None:
        """Store a ruling at this stage, and advance to the stage after it."""
        place = self._stage, id(entry)
        step = self._steps.get(place)
        if step is None or step.ruling is not ruling:
            stage = self._after(ruling) if ruling.takes_something else self._stage
            step = self._steps[place] = Step(entry, ruling, stage)
        self._stage = step.stage

    def score(self, child: Node, contender: Contender) -> Score | None:
        """Return the earlier score of an equal contender for a node at this stage, if any."""
        known = self._scores.get((self._stage, child, contender.uid))
        return known[1] if known is not None and known[0] == contender else None

    def scored(self, child: Node, contender: Contender, score: Score) -> None:
        """Store a score at this stage."""
        self._scores[self._stage, child, contender.uid] = contender, score

    def _after(self, ruling: Ruling) -> int:
        """Return the stage after a ruling at the present stage."""
        taken = self._taken[self._stage].and_by(ruling)
        stage = self._stages.get(taken)
        if stage is None:
            stage = self._stages[taken] = len(self._taken)
            self._taken.append(taken)
        return stage


Recalls = Mapping[Node, Recall]
"""By the root of the tree."""
