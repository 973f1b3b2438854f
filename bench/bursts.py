"""Eight tenants that want as much as each other over time, but not at the same times."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

DUTIES = (1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125)
"""Part of the time in which each tenant wants anything."""
BURST = 50
"""Slots of one burst; in the mean, where bursts are drawn at random."""
FAIR_PART = 8
"""Cores per tenant."""
OWN = FAIR_PART // 2
"""Of these its own quota; the other half is the cohort's."""
CAPACITY = FAIR_PART * len(DUTIES)
NOISE = 0.25
"""By how much, either way, a demand within a burst differs from slot to slot."""
HORIZON_SLOTS, HALF_LIFE_SLOTS = 20, 2000
HOARDER = DUTIES.index(0.25)
HOARD = 4 * FAIR_PART
"""What a hoarder asks for at least, in every slot."""


@dataclass(slots=True)
class Tenant:
    """One tenant's demand and what became of it, in cores times slots."""

    duty: float
    wants: Sequence[int]
    """Cores, by slot."""
    held: int | float = 0
    asked: float = 0.0
    used: float = 0.0
    """What it held and had wanted."""
    moved: float = 0.0
    """Sum of the changes of what it held from slot to slot."""
    stopped: float = 0.0
    """Of these by preemption."""
    waited: float = 0.0
    served: float = 0.0
    used_up: float = 0.0
    """What it held, wanted or not."""

    def count(self, slot: int, held: float) -> None:
        """Take down what it holds in a slot."""
        self.moved += abs(held - self.held)
        self.held = held
        self.used_up += held
        self.used += min(held, self.wants[slot])
        self.asked += self.wants[slot]


def tenants(slots: int, *, load: float, seed: int, at_random: bool = False) -> list[Tenant]:
    """Draw who wants how much when: bursts at regular times, each tenant's from its own on.

    Bursts `at_random` are of any length, and so are the pauses between them: over some bursts
    a tenant then wants more than another, though not for ever.
    """
    chance = random.Random(seed)
    found = []
    for duty in DUTIES:
        busy = _at_random(chance, duty) if at_random else _regularly(chance, duty)
        wants = [
            round(load * FAIR_PART / duty * chance.uniform(1 - NOISE, 1 + NOISE)) if on else 0
            for on in islice(busy, slots)
        ]
        found.append(Tenant(duty, wants))
    return found


def _regularly(chance: random.Random, duty: float) -> Iterator[bool]:
    period = round(BURST / duty)
    phase = chance.randrange(period)
    slot = 0
    while True:
        yield (slot + phase) % period < BURST
        slot += 1


def _at_random(chance: random.Random, duty: float) -> Iterator[bool]:
    """Give bursts and pauses whose lengths are geometric, `BURST` slots a burst in the mean."""
    on = chance.random() < duty
    means = {True: BURST, False: BURST * (1 - duty) / duty}
    while True:
        if duty >= 1:
            yield True
            continue
        ends = math.log1p(-1 / means[on])
        length = 1 + int(math.log(1 - chance.random()) / ends)
        yield from (on for _ in range(length))
        on = not on


def asked_part(known: Sequence[Tenant], *, load: float) -> float:
    """Return what the rarest asked for as a part of what they ask for in the long run."""
    rarest = [one for one in known if one.duty == min(DUTIES)]
    wanted = sum(chain.from_iterable(one.wants for one in rarest))
    return wanted / (load * FAIR_PART * len(rarest) * len(rarest[0].wants))


def by_class(
    known: Sequence[Tenant], measure: Callable[[Tenant], float], of: Callable[[Tenant], float]
) -> dict[float, float]:
    """Return one sum over the tenants of each duty, divided by another."""
    return {
        duty: sum(map(measure, mine)) / (sum(map(of, mine)) or 1.0)
        for duty in dict.fromkeys(DUTIES)
        if (mine := [one for one in known if one.duty == duty])
    }


def asks(tenant: Tenant, slot: int, *, hoards: bool) -> int:
    """Return what a tenant asks for in a slot."""
    return max(tenant.wants[slot], HOARD) if hoards else tenant.wants[slot]
