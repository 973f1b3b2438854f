"""What a credit policy costs: bench (e) without one, with one, and with rows of usage, in lockstep.

On a busy machine the same run takes up to twice the CPU time from one minute to the next. So the
sides take turns at every step of virtual time, some milliseconds each, and all have the same luck.
"""

import gc
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from types import MappingProxyType

from bench.core_alone import Run, Stopwatch
from bench.results import Result
from queueing.controller.collection import postponed
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
    """One engine, and what it took: of the engine alone, and with the world around it."""

    run: Run
    whole_s: float = 0.0

    @property
    def engine_s(self) -> float:
        """CPU seconds of the engine."""
        return self.run.counts.engine.cpu_s


@dataclass(slots=True)
class Quotients:
    """What one kind took, as a multiple of what it takes without a policy, in each turn."""

    engine: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    engine_s: list[float] = field(default_factory=list)


def measure(modes: Sequence[tuple[str, Settings]], world: Deep, turns: int = TURNS) -> list[Result]:
    """Compare each kind of policy with none, in each mode."""
    found = []
    for mode, settings in modes:
        lockstep(replace(world, each=1), settings, 0)  # what is used for the first time
        sums = {name: Quotients() for name in KINDS}
        for number in range(turns):
            sides = lockstep(world, settings, number)
            for name, side in sides.items():
                sums[name].engine.append(side.engine_s / sides[NONE].engine_s)
                sums[name].whole.append(side.whole_s / sides[NONE].whole_s)
                sums[name].engine_s.append(side.engine_s)
        found += [_result(f"e, {kind}, {mode}", one) for kind, one in sums.items()]
    return found


def lockstep(world: Deep, settings: Settings, first: int) -> dict[str, Side]:
    """Run a world to its end once for each kind, all at the same virtual time.

    Every step begins with another side, that of number `first` at the beginning.
    """
    gc.unfreeze()
    gc.collect()
    sides = {name: Side(Run(settings)) for name in KINDS}
    with postponed():
        for name, policy in KINDS.items():
            if policy is not None:
                sides[name].run.engine.observe_credit(policy)
            sides[name].run.observe(world.objects())
            sides[name].run.observe(world.workloads())
            sides[name].run.counts.engine = Stopwatch()
    under_way = {name: side.run.steps() for name, side in sides.items()}
    turn = first
    while under_way:
        names = list(under_way)
        turn += 1
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            before = time.thread_time()
            if next(under_way[name], None) is None:
                del under_way[name]
            sides[name].whole_s += time.thread_time() - before
    return sides


def _result(name: str, found: Quotients) -> Result:
    return Result(
        scenario=name,
        numbers={
            "turns": len(found.engine),
            "more CPU of the engine, %": 100 * (median(found.engine) - 1),
            "least": 100 * (min(found.engine) - 1),
            "most": 100 * (max(found.engine) - 1),
            "more CPU of the process, %": 100 * (median(found.whole) - 1),
            "engine, CPU seconds": median(found.engine_s),
        },
    )
