"""Budgets that demote: what they do not cover runs where nobody else wants to."""

from dataclasses import replace

import pytest

from queueing.core.credits.facts import (
    HOUR,
    BudgetFact,
    HolderKind,
)
from queueing.core.decisions import Admit, Preempt, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Compatibility
from queueing.testing.builders import cluster_queue, local_queue, workload
from tests.state.credits.budgeted import START, amounts, budget, purse, run, world
from tests.state.members import finish, runs, waits

# Demotion ---------------------------------------------------------------------------------------


def demoting(grant: int) -> BudgetFact:
    return budget(grant, blocks=False)


def test_what_a_demoting_budget_does_not_cover_runs_and_spends_nothing() -> None:
    made = world(demoting(1000))
    assert run(made, "one", 2, 400, at=START)
    assert run(made, "two", 2, 400, at=START + 1)
    made.cycle(START + 100)
    assert amounts(made) == (200, 600, 200)
    assert purse(made).opportunistic == ("team/two",)


def test_what_runs_beyond_a_budget_is_preempted_by_anybody() -> None:
    made = world(demoting(1000))
    assert run(made, "beyond", 8, 400, at=START, priority=100)
    made.cycle(START + 10)
    made.observe(
        replace(
            workload("small", {"cpu": 1000}, local_queue="team/a", created=START + 11),
            max_execution_s=10,
        )
    )
    decided = made.cycle(START + 11).decisions
    assert [one.workload for one in decided if isinstance(one, Preempt)] == ["team/beyond"]


@pytest.mark.parametrize("mode", list(Compatibility))
def test_what_gave_way_beyond_a_budget_does_not_come_back_before_who_preempted_it(
    mode: Compatibility,
) -> None:
    """The victims are older, and of the same priority: but they may only have what is free."""
    own = budget(0, blocks=False, kind=HolderKind.LOCAL_QUEUE, holder="team/poor")
    made = world(own, mode=mode)
    made.observe(local_queue("team/poor", "a"))
    assert run(made, "one", 4, 400, at=START, where="poor")
    assert run(made, "two", 4, 400, at=START, where="poor")
    run(made, "covered", 4, None, at=START + 10)
    for step in range(11, 20):
        made.drain(START + step)
        made.cycle(START + step)
    assert runs(made, "covered")
    assert [runs(made, "one"), runs(made, "two")].count(True) == 1


def test_nor_does_it_when_the_leader_changes_after_it_has_left() -> None:
    """The victim holds nothing by then; its status still says for whom it left."""
    own = budget(0, blocks=False, kind=HolderKind.LOCAL_QUEUE, holder="team/poor")
    made = world(own)
    made.observe(local_queue("team/poor", "a"))
    assert run(made, "one", 4, 400, at=START, where="poor")
    assert run(made, "two", 4, 400, at=START, where="poor")
    run(made, "covered", 4, None, at=START + 10)
    assert made.drain(START + 11) == (Key("team/one"),)
    again = world(own)
    again.observe(local_queue("team/poor", "a"))
    for fact in made.workloads.values():
        again.observe(_marked(fact, "team/covered"))
    again.cycle(START + 11)
    assert runs(again, "covered")
    assert not runs(again, "one")


def _marked(fact: WorkloadFact, preemptor: str) -> WorkloadFact:
    """Write, as the controller does, for whom a workload was preempted."""
    preempted = fact.conditions.get("Preempted")
    if preempted is None:
        return fact
    message = f"Preempted to accommodate a workload (UID: {preemptor}, JobUID: )"
    marked = replace(preempted, message=message)
    return replace(fact, conditions={**fact.conditions, "Preempted": marked})


def test_what_is_beyond_a_budget_preempts_nobody() -> None:
    made = world(demoting(1000))
    assert run(made, "covered", 8, 100, at=START)
    assert not run(made, "beyond", 8, 400, at=START + 1, priority=100)
    assert not made.workloads[Key("team/covered")].is_true("Evicted")
    assert "Only what is free may be used" in waits(made, "beyond").message
    finish(made, "covered", START + 20)
    assert runs(made, "beyond")


def test_what_is_beyond_a_budget_keeps_nothing_from_others() -> None:
    """Its queue may use 4 cores more, of which nobody else could have any if they were kept."""
    made = world(budget(1000, blocks=False, holder="b"), mode=Compatibility.KUEUE)
    made.observe(cluster_queue("c", {"default": {"cpu": 0}}, cohort="all"))
    made.observe(local_queue("team/c", "c"))
    assert run(made, "covered", 4, 100, at=START, where="b")
    made.observe(workload("borrower", {"cpu": 2000}, local_queue="team/c", created=START))
    beyond = workload("beyond", {"cpu": 6000}, local_queue="team/b", created=START, priority=9)
    made.observe(replace(beyond, max_execution_s=400))
    decided = {one.workload: type(one) for one in made.round(START + 1).decisions}
    assert decided == {"team/beyond": Wait, "team/borrower": Admit}


def test_what_is_beyond_a_budget_preempts_once_the_next_period_covers_it() -> None:
    made = world(demoting(1000))
    assert run(made, "first", 8, 100, at=START)
    assert not run(made, "second", 8, 120, at=START + 1, priority=100)
    cycle = made.cycle(START + 2)
    assert cycle.wake_at == START + HOUR
    decided = made.cycle(START + HOUR).decisions
    assert [one.workload for one in decided if isinstance(one, Preempt)] == ["team/first"]


def test_the_next_period_covers_those_who_ran_beyond_the_last_the_longest_first() -> None:
    made = world(demoting(1000))
    assert run(made, "one", 1, 1000, at=START)
    assert run(made, "two", 1, 5000, at=START + 1)
    assert run(made, "three", 1, 4000, at=START + 2)
    made.cycle(START + 10)
    assert purse(made).opportunistic == ("team/three", "team/two")
    finish(made, "one", START + 1000)
    made.cycle(START + HOUR)
    assert purse(made).opportunistic == ("team/three", "team/two"), "5000 - 3600 is still too much"
    made.cycle(START + 2 * HOUR)
    assert purse(made).opportunistic == ()
