"""What a credit policy costs: bench (e) with and without one, in pairs that take turns.

On a busy machine one run says little, and two in a row hardly more: what is compared is the
quotient within each pair, and of these the median. Every other pair begins with the other side.
"""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType

from bench import core_alone
from bench.results import Result
from queueing.core.credits.facts import MICRO, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.names import ResourceName
from queueing.core.settings import Settings
from queueing.testing.worlds import Deep

PAIRS = 5
POLICY = CreditPolicyFact(name="all", prices=Prices({(None, ResourceName("cpu")): MICRO}))
KINDS: Mapping[str, CreditPolicyFact] = MappingProxyType(
    {
        "a policy": POLICY,
        "and rows of usage": CreditPolicyFact(name="all", prices=POLICY.prices, keeps_usage=True),
    }
)


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of one run: of the engine alone, and of the whole process."""

    engine: float
    process: float


def measure(modes: Sequence[tuple[str, Settings]], world: Deep, pairs: int = PAIRS) -> list[Result]:
    """Compare each kind of policy with none, in each mode."""
    found = []
    for mode, settings in modes:
        run(replace(world, each=1), settings, POLICY)  # what is used for the first time
        for kind, policy in KINDS.items():
            with_one: list[Spent] = []
            without: list[Spent] = []
            for number in range(pairs):
                sides = [(without, None), (with_one, policy)]
                for side, terms in reversed(sides) if number % 2 else sides:
                    side.append(run(world, settings, terms))
            found.append(_result(f"e, {kind}, {mode}", without, with_one))
    return found


def run(world: Deep, settings: Settings, policy: CreditPolicyFact | None) -> Spent:
    """Run a world to its end; what earlier runs left behind is collected first."""
    gc.unfreeze()
    gc.collect()
    result = core_alone.run(world, settings, name="e", policy=policy)
    numbers = result.numbers
    return Spent(numbers["engine, CPU seconds"], numbers["process, CPU seconds"])


def _result(name: str, without: Sequence[Spent], with_one: Sequence[Spent]) -> Result:
    return Result(
        scenario=name,
        numbers={
            "pairs": len(without),
            "more CPU of the engine, %": _more(without, with_one, _engine),
            "more CPU of the process, %": _more(without, with_one, _process),
            "engine without, CPU seconds": median(map(_engine, without)),
            "engine with, CPU seconds": median(map(_engine, with_one)),
        },
    )


def _more(
    without: Sequence[Spent], with_one: Sequence[Spent], of: Callable[[Spent], float]
) -> float:
    quotients = [of(two) / of(one) for one, two in zip(without, with_one, strict=True)]
    return 100 * (median(quotients) - 1)


def _engine(spent: Spent) -> float:
    return spent.engine


def _process(spent: Spent) -> float:
    return spent.process
