"""What a credit policy costs: bench (e) without one, with one, and with rows of usage, in lockstep.

On a busy machine the same run takes up to twice the CPU time from one minute to the next. So the
sides take turns at every step of virtual time, some milliseconds each, and all have the same luck.
The collector rests meanwhile: it would walk what all made in the time of the one that it hits.
It takes 3 % of a run of (e).
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from types import MappingProxyType

from bench.core_alone import Run, Stopwatch
from bench.results import Result
from queueing.controller.process.garbage_collection import postponed
from queueing.core.credits.facts import MICRO, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.names import ResourceName
from queueing.core.settings import Settings
from queueing.testing.worlds import Deep

TURNS = 5
POLICY = CreditPolicyFact(name="all", prices=Prices({(None, ResourceName("cpu")): MICRO}))
NONE = "no policy"
BENT_HORIZON_S = 64
"""So short that a core that is borrowed for a second bends a weight, and all are measured anew in
every second."""
KINDS: Mapping[str, CreditPolicyFact | None] = MappingProxyType(
    {
        NONE: None,
        "a policy": POLICY,
        "and rows of usage": replace(POLICY, keeps_usage=True),
        "a policy that bends": replace(POLICY, horizon_s=BENT_HORIZON_S),
    }
)


@dataclass(slots=True)
class Side:
    """One engine, and what each step took: of the engine alone, and with the world around it."""

    run: Run
    steps: Iterator[object]
    engine: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def step(self) -> bool:
        """Go one step of virtual time on; False at the end."""
        engine, whole = self.run.counts.engine.cpu_s, time.thread_time()
        goes_on = next(self.steps, None) is not None
        self.whole.append(time.thread_time() - whole)
        self.engine.append(self.run.counts.engine.cpu_s - engine)
        return goes_on


@dataclass(slots=True)
class Quotients:
    """What one kind took, as a multiple of what it takes without a policy, in each turn."""

    engine: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    sides: list[Side] = field(default_factory=list)

    def quickest(self, of: Callable[[Side], list[float]]) -> float:
        """Return CPU seconds with each step as in the turn in which it took least.

        All turns do the same work, so this is what is left when nobody else disturbs.
        """
        turns = [of(side) for side in self.sides]
        return float(sum(min(step) for step in zip(*turns, strict=True)))


def measure(modes: Sequence[tuple[str, Settings]], world: Deep, turns: int = TURNS) -> list[Result]:
    """Compare each kind of policy with none, in each mode."""
    found = []
    for mode, settings in modes:
        lockstep(replace(world, each=1), settings, 0)  # what is used for the first time
        sums = {name: Quotients() for name in KINDS}
        for number in range(turns):
            sides = lockstep(world, settings, number)
            for name, side in sides.items():
                sums[name].engine.append(sum(side.engine) / sum(sides[NONE].engine))
                sums[name].whole.append(sum(side.whole) / sum(sides[NONE].whole))
                sums[name].sides.append(side)
        found += [_result(f"e, {kind}, {mode}", one, sums[NONE]) for kind, one in sums.items()]
    return found


def lockstep(world: Deep, settings: Settings, first: int) -> dict[str, Side]:
    """Run a world to its end once for each kind, all at the same virtual time.

    Every step begins with another side, that of number `first` at the beginning.
    """
    gc.unfreeze()
    gc.collect()
    runs = {name: Run(settings) for name in KINDS}
    sides = {name: Side(run, run.steps()) for name, run in runs.items()}
    with postponed():
        for name, policy in KINDS.items():
            if policy is not None:
                sides[name].run.engine.observe(policy)
            sides[name].run.observe(world.objects())
            sides[name].run.observe(world.workloads())
            sides[name].run.counts.engine = Stopwatch()
    gc.disable()
    try:
        _take_turns(sides, first)
    finally:
        gc.enable()
    return sides


def _take_turns(sides: Mapping[str, Side], first: int) -> None:
    under_way = dict(sides)
    turn = first
    while under_way:
        names = list(under_way)
        turn += 1
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if not under_way[name].step():
                del under_way[name]


def _result(name: str, found: Quotients, without: Quotients) -> Result:
    def quickest(of: Callable[[Side], list[float]]) -> float:
        return 100 * (found.quickest(of) / without.quickest(of) - 1)

    return Result(
        scenario=name,
        numbers={
            "turns": len(found.engine),
            "more CPU of the engine, %": 100 * (median(found.engine) - 1),
            "least": 100 * (min(found.engine) - 1),
            "most": 100 * (max(found.engine) - 1),
            "more CPU of the process, %": 100 * (median(found.whole) - 1),
            "engine, each step by its quickest turn, %": quickest(lambda side: side.engine),
            "process, each step by its quickest turn, %": quickest(lambda side: side.whole),
            "engine, CPU seconds": median(sum(side.engine) for side in found.sides),
        },
    )
