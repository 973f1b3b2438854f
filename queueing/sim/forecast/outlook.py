"""Runs the engine forward from facts, several times, until some waiting workloads are admitted.

Each draw is one possible future: other run times, other newcomers. The moments of admission of all
draws make a range; a draw in which a workload is never admitted makes the range open.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import floor, inf

from queueing.core.credits.facts import CreditFact
from queueing.core.facts import Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.recording.run_times import RunTimes
from queueing.sim.forecast.guesses import Basis, Guesses
from queueing.sim.forecast.newcomers import streams
from queueing.sim.simulation.runner import Lives, Simulation

DRAWS = 24
"""Possible futures that are looked at, if there is time."""
DRAWS_LEAST = 4
"""Fewer tell nothing."""
DRAWS_WIDE = 19
"""Fewer do not tell what holds in nine of ten: that many more lie between the least and the most of
19 draws."""
HORIZON_S = 30 * 86_400.0
"""How far ahead is looked."""
STEPS_A_LOOK = 8
"""Steps between two looks at the clock."""

Enough = Callable[[], bool]
"""Says whether the time for an answer is over."""


def never() -> bool:
    """Say that there is time for everything."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is known at a moment. Finished workloads are among the facts: they are the past."""

    facts: tuple[Fact | CreditFact, ...]
    settings: Settings
    now: float
    history: RunTimes
    ages: RunTimes
    """How long those have run that run."""

    @classmethod
    def of(cls, facts: Iterable[Fact | CreditFact], settings: Settings, now: float) -> "World":
        """Return the world of facts, with the history that they tell."""
        known = tuple(facts)
        workloads = [one for one in known if isinstance(one, WorkloadFact)]
        ages = RunTimes()
        for one in workloads:
            if one.admitted and one.holds_quota and not one.evicted:
                ages.add(one, max(0.0, now - one.conditions["Admitted"].changed))
        history = RunTimes.of(workloads)
        return cls(facts=known, settings=settings, now=now, history=history, ages=ages)


@dataclass(slots=True)
class Prospect:
    """When a workload is admitted, in seconds from now: one number for each draw."""

    found: list[float] = field(default_factory=list)

    def range(self, part: float) -> tuple[float, float]:
        """Return the range in which so large a part of further draws would lie.

        Of n draws k - 1 are left out on each side, where k of n + 1 is the part that may be beyond.
        """
        ordered, number = sorted(self.found), len(self.found)
        rank = max(1, floor((1.0 - part) / 2 * (number + 1)))
        return ordered[rank - 1], ordered[number - rank]


@dataclass(slots=True)
class Outlook:
    """What was found: a prospect for each workload, of equally many draws."""

    prospects: dict[Key, Prospect]
    draws: int = 0
    used: dict[Basis, int] = field(default_factory=dict)
    """How many run times were drawn from what, in the draw that drew most."""

    @property
    def is_known(self) -> bool:
        """Whether there were enough draws."""
        return self.draws >= DRAWS_LEAST


@dataclass(slots=True)
class _Waiting:
    """Watches for the admission of some workloads."""

    wanted: dict[Key, float | None]
    open: int
    """How many were not admitted yet."""

    def came(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload came."""

    def admitted(self, fact: WorkloadFact, now: float) -> None:
        if fact.key in self.wanted and self.wanted[fact.key] is None:
            self.wanted[fact.key] = now
            self.open -= 1

    def evicted(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload was evicted."""

    def left(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload gave back its quota."""

    def ended(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload ended."""


def outlook(  # noqa: PLR0913 - each may be left out but the first two
    world: World,
    keys: Collection[Key],
    *,
    seed: int = 1,
    draws: int = DRAWS,
    enough: Enough = never,
    known: Mapping[Key, float] | None = None,
) -> Outlook:
    """Look ahead for some waiting workloads. `known` run times are not drawn."""
    found = Outlook({key: Prospect() for key in keys})
    coming = streams((one for one in world.facts if isinstance(one, WorkloadFact)), world.now)
    for number in range(draws):
        chance = random.Random(f"{seed}/{number}")  # noqa: S311 - no secret
        lives = Guesses(chance, world.history, world.ages, dict(known or {}))
        newcomers = [
            fact
            for stream in coming
            for fact in stream.newcomers(chance, world.now, spread_out(number))
        ]
        moments, in_time = _future(world, keys, lives, newcomers, enough)
        found.draws += 1
        for key, moment in moments.items():
            found.prospects[key].found.append(moment)
        if sum(lives.used.values()) > sum(found.used.values()):
            found.used = dict(lives.used)
        if not in_time:
            break
    return found


def spread_out(number: int) -> float:
    """Return numbers between 0 and 1 that any first few of are spread out evenly."""
    found, part = 0.0, 0.5
    number += 1
    while number:
        found += part * (number % 2)
        number //= 2
        part /= 2
    return found


def _future(
    world: World,
    keys: Collection[Key],
    lives: Lives,
    newcomers: Iterable[WorkloadFact],
    enough: Enough,
) -> tuple[dict[Key, float], bool]:
    """Return when workloads are admitted in one future, and whether there was time to find out.

    It is the futures with long waits that take long, so that leaving out the one for which there
    was no time would tell too early moments: who waits in it still counts as never admitted.
    """
    watcher = _Waiting(dict.fromkeys(keys), len(keys))
    made = Simulation.empty(world.settings, world.now, lives=lives, watcher=watcher)
    made.begin(world.facts)
    for fact in newcomers:
        made.submit(fact.created, fact)
    steps, in_time = 0, True
    while in_time and watcher.open and made.step(world.now + HORIZON_S):
        steps += 1
        in_time = bool(steps % STEPS_A_LOOK) or not enough()
    moments = {
        key: inf if moment is None else moment - world.now for key, moment in watcher.wanted.items()
    }
    return moments, in_time or not watcher.open
