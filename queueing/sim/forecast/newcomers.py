"""Draws who else will come: each queue's newcomers go on as they came lately, for a while.

For how long is not known. What has gone on for an hour goes on for about another hour: for longer
than x hours with a probability of 1 / (1 + x). In one draw it is the same for all queues: busy
times are busy for everybody.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.sim.simulation.arrivals import again

FEW = 1
"""Workloads of one queue and priority from which on more of them are expected."""
LATELY_S = 86_400.0
"""How far back is looked for them."""
MOST = 2_000
"""Newcomers of one queue and priority in one draw."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Workloads of one queue and priority that came lately, the latest last."""

    came: tuple[WorkloadFact, ...]
    lasted_s: float

    def newcomers(
        self, chance: random.Random, now: float, goes_on: float
    ) -> Iterator[WorkloadFact]:
        """Yield who comes in one possible future, by time.

        `goes_on` (0 to 1) is the part of all futures in which it is over sooner.
        """
        gap_s = self.lasted_s / len(self.came)
        silent_s = now - self.came[-1].created
        if gap_s <= 0 or chance.random() > exp(-max(0.0, silent_s - gap_s) / gap_s):
            return  # it has been silent for so long that it is over
        ends = now + self.lasted_s * goes_on / (1.0 - goes_on)
        at = now + chance.expovariate(1.0 / gap_s)
        for number in range(MOST):
            if at > ends:
                return
            like = chance.choice(self.came)
            key = Key(f"{like.key}~{number}")
            yield again(like, key, at)
            at += chance.expovariate(1.0 / gap_s)


def streams(facts: Iterable[WorkloadFact], now: float) -> list[Stream]:
    """Return what came lately, in a defined order."""
    found: dict[tuple[str, int], list[WorkloadFact]] = {}
    for fact in facts:
        if fact.variant is not None:
            continue  # it came with its parent
        if fact.local_queue is not None and now - LATELY_S <= fact.created <= now:
            found.setdefault((fact.local_queue, fact.priority), []).append(fact)
    made = []
    for _, came in sorted(found.items()):
        came.sort(key=lambda one: (one.created, one.key))
        if len(came) >= FEW:
            made.append(Stream(tuple(came), now - came[0].created))
    return made
