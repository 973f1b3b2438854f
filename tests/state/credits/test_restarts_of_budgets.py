"""What a new process knows of what a budget has spent."""

from typing import Any

import pytest

from queueing.core.credits.facts import (
    BudgetAccountFact,
)
from queueing.core.settings import Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
)
from tests.state.credits.budgeted import START, amounts, budget, purse, run, world
from tests.state.members import LASTING, finish

# Restarts ---------------------------------------------------------------------------------------


def restarted(
    made: SimulatedCluster, at: float, *stored: BudgetAccountFact, facts: tuple[Any, ...]
) -> SimulatedCluster:
    """Start anew from what is stored."""
    again = SimulatedCluster([flavor(), namespace(), cohort("all")], settings=Settings())
    for name in "ab":
        again.observe(made.queues[cluster_queue(name, {}).name])
        again.observe(local_queue(f"team/{name}", name))
    for fact in made.workloads.values():
        again.observe(fact)
    for credit in (LASTING, *facts, *stored):
        again.engine.observe(credit)
    again.cycle(at)
    return again


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("written_at", [None, START, START + 40, START + 99, START + 150])
def test_a_restart_finds_the_same_spending_whenever_the_status_was_written(
    written_at: int | None, blocks: bool
) -> None:
    fact = budget(1000, blocks=blocks)
    made = world(fact)
    stored: list[BudgetAccountFact] = []
    for at in range(START, START + 200, 10):
        if at == START + 20:
            run(made, "one", 2, 300, at=at)
        elif at == START + 50:
            run(made, "two", 3, 200, at=at)
        elif at == START + 100:
            finish(made, "one", at)
        made.cycle(at)
        if written_at is not None and at <= written_at:
            stored = [purse(made)]
    made.cycle(START + 200)
    again = restarted(made, START + 200, *stored, facts=(fact,))
    assert amounts(again) == amounts(made)
    assert purse(again).opportunistic == purse(made).opportunistic


def test_a_crash_between_admission_and_status_holds_what_was_admitted() -> None:
    fact = budget(1000)
    made = world(fact)
    empty = purse(made)
    assert run(made, "one", 2, 400, at=START + 10)
    again = restarted(made, START + 11, empty, facts=(fact,))
    assert not run(again, "two", 2, 400, at=START + 11)
    assert amounts(again) == (2, 798, 200)
