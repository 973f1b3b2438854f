"""What was found of the heads of one tree, while nothing in that tree is used otherwise.

The rounds of a cycle judge again whoever waits for victims to leave. Most rounds change nothing in
most trees: then what a head would get is what it would have got the round before, and what is
decided of it is the same wherever the same was taken by others before it.

Invariant: a recall is thrown away with the first admission or eviction in its tree, and at the end
of the cycle: so quotas, rules, credits and time are the same for as long as it is kept.
"""

from collections.abc import Mapping
from typing import NamedTuple

from queueing.core.entries import Entry, Head, Ruling
from queueing.core.names import Uid
from queueing.core.quota.node import Node


class Step(NamedTuple):
    """What was decided of an entry, and at which stage the round was then."""

    entry: Entry
    ruling: Ruling
    stage: int


class Recall:
    """Entries by workload; rulings by workload and by all that was taken before in the round.

    What was taken so far is a number, the stage: 0 is nothing, and every ruling that takes
    something leads from one stage to another.
    """

    __slots__ = ("_entries", "_last", "_stage", "_steps")

    def __init__(self) -> None:
        self._entries: dict[Uid, Entry] = {}
        self._steps: dict[tuple[int, Uid], Step] = {}
        self._stage = self._last = 0

    def begin_round(self) -> None:
        """Note that nothing was taken yet."""
        self._stage = 0

    def entry(self, head: Head) -> Entry | None:
        """Return how a head was nominated before; None if it was not, or not as it is now."""
        known = self._entries.get(head.workload.uid)
        return known if known is not None and known.head == head else None

    def nominated(self, entry: Entry) -> None:
        """Note a nomination."""
        self._entries[entry.head.workload.uid] = entry

    def ruling(self, entry: Entry) -> Ruling | None:
        """Return what was decided of the very same entry at this stage of a round."""
        step = self._steps.get((self._stage, entry.head.workload.uid))
        return step.ruling if step is not None and step.entry is entry else None

    def decided(self, entry: Entry, ruling: Ruling) -> None:
        """Note what was decided of an entry at this stage, and go on to the next."""
        place = self._stage, entry.head.workload.uid
        step = self._steps.get(place)
        if step is None or step.ruling is not ruling:
            if ruling.takes_something:
                self._last += 1
            stage = self._last if ruling.takes_something else self._stage
            step = self._steps[place] = Step(entry, ruling, stage)
        self._stage = step.stage


Recalls = Mapping[Node, Recall]
"""By the root of the tree."""
