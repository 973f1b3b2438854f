"""How often the truth lies in the ranges of estimates: `python -m bench.eta`, `make bench-eta`.

Loads run in virtual time, with run times that vary. At some moments estimates are made for
workloads that wait, of what is known then, and compared with what came of them. An oracle makes
the same estimates knowing all run times, but not who will come: its ranges are as narrow as they
can be.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf, nan
from pathlib import Path
from types import MappingProxyType

import click

from bench.results import machine
from bench.virtual.loads import LOADS, Load, Queue, Stream
from queueing.core.facts import Condition, Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.forecast.outlook import Prospect, World, outlook
from queueing.sim.simulation.arrivals import Arrival, KnownLives, in_time
from queueing.sim.simulation.durations import fixed
from queueing.sim.simulation.runner import Simulation
from queueing.testing.builders import NAMESPACE, workload

VARIES = 0.5
"""Standard deviation of the logarithm of run times, within a class."""
BEGINS = 1_700_000_000.0
AIM_HELD, AIM_WIDTH = 0.85, 3.0
"""The part of truths that must lie in 90 % ranges, and how much wider than the oracle's these may
be."""
SCALES: Mapping[str, float] = MappingProxyType(
    {"A": 0.1, "B": 0.1, "C": 0.1, "D": 0.3, "E": 0.3, "G": 0.3, "H": 0.3, "I": 0.05}
)
"""Loads that are replayed, and which part of them."""
SLOWER = 60.0
"""How many times longer all lasts than in the loads: an estimate is about minutes."""


@dataclass(frozen=True, slots=True)
class Case:
    """One estimate and what came of it, in seconds from when it was made."""

    truth: float
    half: tuple[float, float]
    nearly: tuple[float, float]
    oracle: tuple[float, float]


@dataclass(slots=True)
class Life:
    """What really happens: watches a simulation, and remembers it."""

    admitted_at: dict[Key, list[float]] = field(default_factory=dict)
    ended_facts: list[WorkloadFact] = field(default_factory=list)

    def came(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload came."""

    def admitted(self, fact: WorkloadFact, now: float) -> None:
        """Remember an admission."""
        self.admitted_at.setdefault(fact.key, []).append(now)

    def evicted(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload was evicted."""

    def left(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload gave back its quota."""

    def ended(self, fact: WorkloadFact, now: float) -> None:
        """Remember a finished workload, as its object would stand there."""
        done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
        told = {**fact.conditions, "Finished": done}
        self.ended_facts.append(replace(fact, conditions=told))


def random_load(chance: random.Random) -> Load:
    """Return a random world: some queues in one cohort, classes of all sizes."""
    queues = tuple(
        Queue(name=f"queue-{number}", cohort="all", nominal=chance.choice((8, 16, 32)))
        for number in range(chance.randint(2, 5))
    )
    streams = tuple(
        Stream(
            queue=queue.name,
            name=name,
            priority=chance.choice((0, 0, 50, 100)),
            cpu=(chance.choice((1, 2, 4, 8)),),
            runs_s=chance.uniform(2.0, 20.0),
            every_s=chance.uniform(0.5, 4.0),
            count=chance.randint(8, 30),
            leaves_s=0.5,
            number=number,
        )
        for queue in queues
        for number, name in enumerate(("short", "long"))
    )
    return Load(queues=queues, streams=streams)


def arrivals(load: Load, chance: random.Random) -> list[Arrival]:
    """Return the workloads of a load, each with a run time of its own."""
    return in_time(_arrivals(load, chance))


def _arrivals(load: Load, chance: random.Random) -> Iterator[Arrival]:
    for one in load.streams:
        for number in range(one.count):
            at = BEGINS + SLOWER * one.due_s(number)
            fact = workload(
                str(one.key(number)),
                {"cpu": one.cores(number) * 1_000},
                local_queue=f"{NAMESPACE}/{one.queue}",
                priority=one.priority,
                created=at,
            )
            takes_s = SLOWER * one.runs_s * chance.lognormvariate(0.0, VARIES)
            yield Arrival(at=at, fact=fact, runs_s=takes_s, name=one.name)


def cases(load: Load, seed: int, *, moments: int, asked: int, draws: int) -> list[Case]:
    """Live through a load, make estimates at some moments, and compare them with the truth."""
    chance = random.Random(seed)
    coming = arrivals(load, chance)
    lasts_s = max(one.at for one in coming) - BEGINS
    runs = {one.fact.key: one.runs_s or 0.0 for one in coming}
    life, settings = Life(), Settings(fair_sharing=load.fair_sharing)
    lives = KnownLives(random.Random(seed), leaving=fixed(30.0), known=dict(runs))
    made = Simulation.empty(settings, BEGINS, lives=lives, watcher=life)
    objects: tuple[Fact, ...] = tuple(load.objects())
    made.begin(objects)
    for one in coming:
        made.submit(one.at, one.fact)
    worlds: list[tuple[World, list[Key]]] = []
    for number in range(1, moments + 1):
        now = BEGINS + lasts_s * number / (moments + 0.5)
        made.run(now)
        waiting = sorted(
            key for key, fact in made.cluster.workloads.items() if not fact.holds_quota
        )
        if waiting:
            facts = (*objects, *made.cluster.workloads.values(), *life.ended_facts)
            keys = chance.sample(waiting, min(asked, len(waiting)))
            worlds.append((World.of(facts, settings, now), keys))
    made.run(BEGINS + 100 * lasts_s)
    found: list[Case] = []
    for world, keys in worlds:
        ours = outlook(world, keys, seed=seed, draws=draws)
        best = outlook(world, keys, seed=seed, draws=draws, known=runs)
        for key in keys:
            truth = next((one for one in life.admitted_at.get(key, ()) if one > world.now), None)
            if truth is not None:
                prospects = ours.prospects[key], best.prospects[key]
                found.append(_case(truth - world.now, *prospects))
    return found


def _case(truth: float, ours: Prospect, best: Prospect) -> Case:
    return Case(truth, ours.range(0.5), ours.range(0.9), best.range(0.9))


def summed_up(found: list[Case]) -> dict[str, float]:
    """Return how often the truth lay in the ranges that were told, and how wide these are.

    A range without an end is told, too, and holds what comes after its beginning; it has no width.
    """
    told = [one for one in found if one.half[0] < inf]
    closed = [one for one in told if one.nearly[1] < inf and one.oracle[1] < inf]
    number = len(told) or 1
    wide = sum(one.nearly[1] - one.nearly[0] for one in closed)
    narrow = sum(one.oracle[1] - one.oracle[0] for one in closed)
    return {
        "cases": len(found),
        "unknown": len(found) - len(told),
        "open": sum(one.nearly[1] == inf for one in told),
        "in 50 %": sum(one.half[0] <= one.truth <= one.half[1] for one in told) / number,
        "in 90 %": sum(one.nearly[0] <= one.truth <= one.nearly[1] for one in told) / number,
        "oracle in 90 %": sum(one.oracle[0] <= one.truth <= one.oracle[1] for one in told) / number,
        "below": sum(one.truth < one.nearly[0] for one in told) / number,
        "above": sum(one.truth > one.nearly[1] for one in told) / number,
        "width, s": wide / (len(closed) or 1),
        "times the oracle's": wide / narrow if narrow else nan,
    }


def is_met(row: Mapping[str, float]) -> bool:
    """Say whether both bars are met; without a range that has an end neither is."""
    return row["in 90 %"] >= AIM_HELD and row["times the oracle's"] <= AIM_WIDTH


Make = Callable[[random.Random], Load]


def worlds(loads: tuple[str, ...], seeds: int) -> Iterator[tuple[str, int, Load]]:
    """Yield what is replayed: loads by name, and random worlds."""
    for name in loads:
        load = LOADS[name](random.Random(1)).scaled(SCALES.get(name, 1.0))
        yield name, 1, load
    for seed in range(1, seeds + 1):
        yield "random", seed, random_load(random.Random(seed))


@click.command()
@click.argument("loads", nargs=-1, type=click.Choice(tuple(LOADS)))
@click.option("--random-worlds", "seeds", default=6, show_default=True, help="How many.")
@click.option("--moments", default=3, show_default=True, help="When estimates are made, a load.")
@click.option("--asked", default=8, show_default=True, help="Estimates at each moment.")
@click.option("--draws", default=24, show_default=True, help="Futures of each estimate.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("bench-results"))
def main(*, loads: tuple[str, ...], seeds: int, out: Path, **how: int) -> None:
    """Replay LOADS, or all of them, and random worlds; say how well estimates are calibrated."""
    everything: list[Case] = []
    rows: dict[str, dict[str, float]] = {}
    for name, seed, load in worlds(loads or tuple(SCALES), seeds):
        found = cases(load, seed, **how)
        everything += found
        rows[f"{name} {seed}"] = summed_up(found)
        click.echo(f"{name} {seed}: {_told(rows[f'{name} {seed}'])}")
    rows["all"] = summed_up(everything)
    click.echo(f"all: {_told(rows['all'])}")
    out.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "worlds": rows}
    (out / "eta.json").write_text(json.dumps(document, indent=2) + "\n")
    held, wide = rows["all"]["in 90 %"], rows["all"]["times the oracle's"]
    click.echo(f"90 % ranges hold in {held:.0%} (bar {AIM_HELD:.0%})", nl=False)
    click.echo(f" and are {wide:.2f} times as wide as the oracle's (bar {AIM_WIDTH:g})")
    sys.exit(0 if is_met(rows["all"]) else 1)


def _told(row: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in row.items())


if __name__ == "__main__":
    main()
