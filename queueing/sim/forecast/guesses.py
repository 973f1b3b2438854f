"""Draws how long workloads run: by those that ended and those that run, by limits, or not at all.

Who has run for a while is compared with those that ran longer. Who has outlived all of them goes on
for about as long again: the longer something has run, the longer it will.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import exp, inf, log, sqrt
from statistics import NormalDist

from queueing.core.credits.holding import seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.recording.run_times import RunTimes, groups

SPREAD = 0.2
"""The standard deviation of the logarithm by which a drawn run time differs from the one that was
seen: what was seen is a sample, and the next one is none of it."""
NORMAL = NormalDist()
LEAST = 1e-9
"""Parts of a distribution that are nearer to its ends are not drawn."""
ENOUGH = 5
"""Workloads from which on a group tells something."""
COMMON = 0.25
"""The same for all run times of a draw: what is expected of all may be too little or too much."""
LEAVES_S = 30.0
"""How long pods of an evicted workload take to end: Kubernetes' grace period."""


class Basis(Enum):
    """What the run time of a workload is drawn from."""

    HISTORY = "history"
    LIMIT = "limit"
    NOTHING = "nothing"


@dataclass(slots=True)
class Guesses:
    """Run times of one draw; the same workload gets the same whenever it runs."""

    chance: random.Random
    history: RunTimes
    ages: RunTimes
    """How long those have run by now that run."""
    drawn: dict[Key, float | None] = field(default_factory=dict)
    used: Counter[Basis] = field(default_factory=Counter)
    _common: float = 1.0

    def __post_init__(self) -> None:
        self._common = self.chance.lognormvariate(0.0, COMMON)

    def runs_s(self, fact: WorkloadFact, ran_s: float) -> float | None:
        """Return how long a run takes in all; None if nothing is known of it."""
        if fact.key not in self.drawn:
            self.drawn[fact.key] = self._draw(fact, ran_s)
        return self.drawn[fact.key]

    def leaves_s(self, fact: WorkloadFact) -> float:
        """Return how long the pods of an evicted workload take to end."""
        del fact
        return LEAVES_S

    def _draw(self, fact: WorkloadFact, ran_s: float) -> float | None:
        limit = seconds_of(fact)
        most = inf if limit is None else float(limit)
        for group in groups(fact):
            ended, ages = self.history.of_group(group), self.ages.of_group(group)
            if len(ended) + len(ages) >= ENOUGH and ended:
                self.used[Basis.HISTORY] += 1
                return min(most, self._like(ended, ages, ran_s))
        if most < inf:
            self.used[Basis.LIMIT] += 1
            return self.chance.uniform(min(ran_s, most), most)
        self.used[Basis.NOTHING] += 1
        return None

    def _like(self, ended: Sequence[float], ages: Sequence[float], ran_s: float) -> float:
        """Draw somebody who ran for longer; who still runs will have run for longer than now."""
        longer = [*(one for one in ended if one > ran_s), *(one for one in ages if one > ran_s)]
        if not longer:
            return self._outliving(ran_s)
        at = self.chance.randrange(len(longer))
        found = longer[at]
        if at >= sum(one > ran_s for one in ended):
            beyond = [one for one in ended if one > found]
            found = self.chance.choice(beyond) if beyond else self._outliving(found)
        return self._varied(found * self._common, ran_s)

    def _varied(self, seconds: float, ran_s: float) -> float:
        """Vary a run time, among longer ones: who has run for long does not end at once."""
        shorter = NORMAL.cdf(log(ran_s / seconds) / SPREAD) if ran_s > 0 else 0.0
        part = shorter + (1.0 - shorter) * self.chance.random()
        within = min(max(part, LEAST), 1.0 - LEAST)
        return max(ran_s, seconds * exp(SPREAD * NORMAL.inv_cdf(within)))

    def _outliving(self, age_s: float) -> float:
        return age_s / sqrt(1.0 - self.chance.random())
