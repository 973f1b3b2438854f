"""A queue under a hard budget, and what is left of it."""

from dataclasses import replace
from typing import Any

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    BudgetAccountFact,
    BudgetFact,
    HolderKind,
)
from queueing.core.credits.period import Period
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.settings import Compatibility, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from tests.state.members import LASTING, runs

START = 1_000_000 // HOUR * HOUR
LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def budget(grant: int, **more: Any) -> BudgetFact:
    """Grant so many seconds of a core, each hour, to the queue `a`."""
    fact = BudgetFact(
        name="hourly",
        kind=HolderKind.CLUSTER_QUEUE,
        holder="a",
        grant=grant * MICRO,
        period=Period(HOUR),
        created=START,
    )
    return replace(fact, **more)


def world(*budgets: BudgetFact, mode: Compatibility = Compatibility.QUEUEING) -> SimulatedCluster:
    """Make two queues of 8 cores without a cohort, and one of each kind of object they need."""
    made = SimulatedCluster(
        [flavor(), namespace(), cohort("all")], settings=Settings(compatibility=mode)
    )
    for name in "ab":
        facts: list[Fact] = [
            cluster_queue(
                name,
                {"default": {"cpu": 8000}},
                preemption=LOWER,
                cohort="all" if name == "b" else None,
            ),
            local_queue(f"team/{name}", name),
        ]
        for fact in facts:
            made.observe(fact)
    made.engine.observe(LASTING)
    for one in budgets:
        made.engine.observe(one)
    made.cycle(START)
    return made


def run(
    made: SimulatedCluster, name: str, cores: int, seconds: int | None, *, at: float, **more: Any
) -> bool:
    """Submit a workload and say whether it runs."""
    where = more.pop("where", "a")
    fact = workload(name, {"cpu": cores * 1000}, local_queue=f"team/{where}", created=at, **more)
    made.observe(replace(fact, max_execution_s=seconds))
    made.cycle(at)
    return runs(made, name)


def purse(made: SimulatedCluster, name: str = "hourly") -> BudgetAccountFact:
    return next(one for one in made.engine.credits.budgets() if one.name == name)


def amounts(made: SimulatedCluster) -> tuple[int, int, int]:
    """Return what is spent, held and left, in seconds of a core."""
    one = purse(made)
    return one.spent // MICRO, one.held // MICRO, one.left // MICRO
