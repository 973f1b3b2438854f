"""Random histories: the events that may happen to a cluster, in any order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from queueing.core.credits.facts import CreditFact
from queueing.core.facts import Fact, WorkloadFact
from queueing.core.settings import Settings
from tests.lives.random_jobs import DOORS, some_job
from tests.lives.random_worlds import (
    COHORTS,
    FUNGIBILITIES,
    LIMITED,
    MODES,
    POLICIES,
    WEIGHTS,
    Choose,
    some_settings,
    some_world,
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens: a kind, a number that picks to whom, and what it makes of them."""

    kind: str
    pick: int = 0
    to: object = None


Step = WorkloadFact | Event
Table = Mapping[str, Sequence[object]]
"""Kinds of events, and what they may make of whom they happen to."""


@dataclass(frozen=True, slots=True)
class Life:
    """A world, and what happens in it."""

    settings: Settings
    facts: list[Fact]
    steps: list[Step]
    terms: tuple[CreditFact, ...] = ()


NOTHING = (None,)
DAILY = ("cycle",) * 5 + ("finish",) + ("drain",) * 3 + ("rest",) * 2
"""What happens most of the time."""
OF_WORKLOADS: Table = MappingProxyType(
    {
        "gone": NOTHING,
        "priority": range(5),
        "reclaim": (1, 2, 3),
        "check": ("Ready", "Ready", "Retry", "Rejected"),
        "evict": (0, 30, 90),
        "deactivate": NOTHING,
        "gate": NOTHING,
        "move": range(8),
        "time": (1.0, 20.0, 61.0, 400.0),
    }
)
OF_OBJECTS: Table = MappingProxyType(
    {
        "quota": LIMITED,
        "policy": POLICIES,
        "fungibility": FUNGIBILITIES,
        "weight": WEIGHTS,
        "stop": ("None", "Hold", "HoldAndDrain"),
        "stop local": ("None", "Hold", "HoldAndDrain"),
        "reparent": (*COHORTS, None),
        "adopt": (*COHORTS, None),
        "flavor": NOTHING,
        "queue": NOTHING,
        "strategy": NOTHING,
    }
)
OF_WRITES: Table = MappingProxyType(
    {"refuse": NOTHING, "unknown": (True, False), "late": NOTHING, "restart": NOTHING}
)
EVERYTHING: Table = MappingProxyType({**OF_WORKLOADS, **OF_OBJECTS, **OF_WRITES})
GENTLE: Table = MappingProxyType({**OF_WORKLOADS, **OF_OBJECTS})
"""No write fails, and nobody restarts."""
MIX = ("job",) * 4 + ("daily",) * 4 + ("rare",) * 2
"""What a step is, by how often."""
SIZE = 30
"""Steps after the opening, at most."""
PICKS = range(8)


def some_step(choose: Choose, rare: Table = EVERYTHING) -> Step:
    """Choose what happens next."""
    match choose(MIX):
        case "job":
            return some_job(choose)
        case "daily":
            return Event(choose(DAILY), choose(PICKS))
        case _:
            kind = choose(tuple(rare))
            return Event(kind, choose(PICKS), choose(rare[kind]))


def some_opening(choose: Choose) -> list[Step]:
    """Choose a few workloads of one or two queues, so that these borrow, and a cycle for them."""
    doors = [choose(DOORS), choose(DOORS)]
    jobs = [some_job(choose, doors) for _ in range(choose(range(2, 9)))]
    return [*jobs, Event("cycle")]


def some_life(
    choose: Choose, rare: Table = EVERYTHING, *, modes: Sequence[str] = MODES, size: int = SIZE
) -> Life:
    """Choose a world and a history that begins with a few workloads."""
    return Life(
        some_settings(choose, modes),
        some_world(choose),
        [
            *some_opening(choose),
            *(some_step(choose, rare) for _ in range(choose(range(1, size)))),
        ],
    )
