"""Hard budgets: what is spent and held never exceeds a grant, and who is not covered waits."""

from dataclasses import replace
from typing import Any

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    BudgetAccountFact,
    BudgetFact,
    CreditGone,
    CreditKind,
    HolderKind,
)
from queueing.core.credits.period import Period
from queueing.core.decisions import Preempt, Reason
from queueing.core.facts import Fact, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Compatibility, Settings
from queueing.sim.world import World
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    pod_set,
    preemption,
    workload,
)
from tests.state.members import LASTING, finish, runs, waits

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


def world(*budgets: BudgetFact, mode: Compatibility = Compatibility.QUEUEING) -> World:
    """Make two queues of 8 cores without a cohort, and one of each kind of object they need."""
    made = World([flavor(), namespace(), cohort("all")], settings=Settings(compatibility=mode))
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
    made.engine.observe_credit(LASTING)
    for one in budgets:
        made.engine.observe_credit(one)
    made.cycle(START)
    return made


def run(made: World, name: str, cores: int, seconds: int | None, *, at: float, **more: Any) -> bool:
    """Submit a workload and say whether it runs."""
    where = more.pop("where", "a")
    fact = workload(name, {"cpu": cores * 1000}, local_queue=f"team/{where}", created=at, **more)
    made.observe(replace(fact, max_execution_s=seconds))
    made.cycle(at)
    return runs(made, name)


def purse(made: World, name: str = "hourly") -> BudgetAccountFact:
    return next(one for one in made.engine.credit_budgets() if one.name == name)


def amounts(made: World) -> tuple[int, int, int]:
    """Return what is spent, held and left, in seconds of a core."""
    one = purse(made)
    return one.spent // MICRO, one.held // MICRO, one.left // MICRO


def test_a_run_that_the_budget_covers_is_held_and_settled_as_it_ends() -> None:
    made = world(budget(1000))
    assert run(made, "one", 2, 300, at=START)
    made.cycle(START + 100)
    assert amounts(made) == (200, 400, 400)
    finish(made, "one", START + 150)
    assert amounts(made) == (300, 0, 700)


def test_what_is_held_follows_the_declared_time_of_one_that_runs() -> None:
    made = world(budget(2000))
    assert run(made, "one", 2, 300, at=START)
    assert run(made, "other", 1, 100, at=START)
    made.observe(replace(made.workloads[Key("team/one")], max_execution_s=500))
    made.cycle(START)
    assert amounts(made) == (0, 1100, 900)
    made.cycle(START + 200)
    assert amounts(made) == (600, 600, 800)


def test_what_a_budget_does_not_cover_waits_and_says_which_and_until_when() -> None:
    made = world(budget(1000))
    assert run(made, "one", 2, 300, at=START)
    assert not run(made, "two", 2, 300, at=START)
    found = waits(made, "two")
    assert found.reason is Reason.BUDGET_EXHAUSTED
    assert found.message == (
        "CreditBudget hourly has 0.11 GPUh left until 1970-01-12T14:00:00Z,"
        " and a run of 300s may cost 0.17 GPUh"
    )


def test_who_waits_for_a_budget_is_woken_by_its_next_period() -> None:
    made = world(budget(1000))
    run(made, "one", 2, 500, at=START)
    assert not run(made, "two", 1, 10, at=START)
    assert made.cycle(START + 1).wake_at == START + HOUR
    finish(made, "one", START + 500)
    assert not runs(made, "two")
    made.cycle(START + HOUR)
    assert runs(made, "two")


def test_who_waits_for_a_budget_is_woken_by_an_end_before_its_time() -> None:
    made = world(budget(1000))
    run(made, "one", 2, 500, at=START)
    assert not run(made, "two", 1, 100, at=START)
    finish(made, "one", START + 400)
    assert runs(made, "two")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(budget(2000), id="a larger grant"),
        pytest.param(CreditGone(CreditKind.BUDGET, "hourly"), id="the end of the budget"),
        pytest.param(CreditGone(CreditKind.POLICY, "p"), id="the end of all prices"),
    ],
)
def test_who_waits_for_a_budget_is_woken_by_a_change_of_it(change: Any) -> None:
    made = world(budget(1000))
    assert not run(made, "one", 2, 501, at=START)
    made.engine.observe_credit(change)
    made.cycle(START + 1)
    assert runs(made, "one")


def test_a_run_without_a_declared_end_is_not_covered() -> None:
    made = world(budget(1000))
    assert not run(made, "one", 1, None, at=START)
    assert "max-exec-time-seconds" in waits(made, "one").message


def test_a_smaller_run_passes_one_that_the_budget_does_not_cover() -> None:
    made = world(budget(1000))
    assert not run(made, "large", 2, 501, at=START)
    assert run(made, "small", 2, 499, at=START + 1)


def test_what_nobody_pays_for_needs_no_budget() -> None:
    made = world(budget(0))
    fact = workload("free", {"memory": 1}, local_queue="team/a", created=START)
    made.observe(cluster_queue("a", {"default": {"cpu": 8000, "memory": 100}}))
    made.observe(fact)
    made.cycle(START)
    assert runs(made, "free")


def test_two_that_only_one_budget_covers_are_not_both_let_in_at_once() -> None:
    made = world(budget(1000))
    for name in ("one", "two"):
        fact = workload(name, {"cpu": 1000}, local_queue="team/a", created=START)
        made.observe(replace(fact, max_execution_s=600))
    made.cycle(START)
    assert [runs(made, "one"), runs(made, "two")] == [True, False]


def test_fewer_pods_run_where_all_of_them_are_not_covered() -> None:
    made = world(budget(1000))
    fact = workload(
        "elastic",
        local_queue="team/a",
        created=START,
        pod_sets=(pod_set({"cpu": 1000}, 8, min_count=1),),
    )
    made.observe(replace(fact, max_execution_s=250))
    made.cycle(START)
    admission = made.workloads[Key("team/elastic")].admission
    assert admission is not None
    assert admission.pod_sets[0].count == 4


def test_a_workload_of_many_pods_is_covered_as_a_whole_or_not_at_all() -> None:
    made = world(budget(1000))
    fact = workload("gang", {"cpu": 1000}, local_queue="team/a", created=START, count=5)
    made.observe(replace(fact, max_execution_s=201))
    made.cycle(START)
    assert not runs(made, "gang")
    assert amounts(made) == (0, 0, 1000)


def test_nobody_is_preempted_for_one_that_the_budget_does_not_cover() -> None:
    made = world(budget(1000, holder="a"))
    made.engine.observe_credit(budget(10**6))
    made.cycle(START)
    assert run(made, "low", 8, 100, at=START)
    made.engine.observe_credit(budget(1000))
    assert not run(made, "high", 8, 100, at=START + 1, priority=10)
    assert waits(made, "high").reason is Reason.BUDGET_EXHAUSTED
    assert not made.workloads[Key("team/low")].is_true("Evicted")


@pytest.mark.parametrize(
    ("kind", "holder", "where"),
    [
        pytest.param(HolderKind.LOCAL_QUEUE, "team/a", "a", id="a LocalQueue"),
        pytest.param(HolderKind.CLUSTER_QUEUE, "a", "a", id="a ClusterQueue"),
        pytest.param(HolderKind.COHORT, "all", "b", id="a Cohort"),
    ],
)
def test_a_budget_binds_its_holder_and_nobody_else(
    kind: HolderKind, holder: str, where: str
) -> None:
    made = world(budget(10, kind=kind, holder=holder))
    other = "b" if where == "a" else "a"
    assert not run(made, "bound", 1, 11, at=START, where=where)
    assert run(made, "free", 1, 11, at=START, where=other)


def test_every_budget_above_a_workload_counts() -> None:
    made = world(
        budget(1000, name="queue"),
        budget(100, name="door", kind=HolderKind.LOCAL_QUEUE, holder="team/a"),
    )
    assert run(made, "one", 1, 60, at=START)
    assert not run(made, "two", 1, 60, at=START)
    assert "CreditBudget door" in waits(made, "two").message
    made.cycle(START + 30)
    assert {one.name: one.spent // MICRO for one in made.engine.credit_budgets()} == {
        "queue": 30,
        "door": 30,
    }


def test_a_run_across_two_periods_spends_of_each_what_falls_into_it() -> None:
    made = world(budget(8 * HOUR))
    assert run(made, "long", 2, 3 * HOUR, at=START + 1800)
    made.cycle(START + HOUR - 1)
    assert amounts(made)[0] == 2 * 1799
    made.cycle(START + HOUR + 10)
    assert amounts(made) == (20, 2 * (3 * HOUR - 1810), 8 * HOUR - 2 * (3 * HOUR - 1800))


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


# Restarts ---------------------------------------------------------------------------------------


def restarted(made: World, at: float, *stored: BudgetAccountFact, facts: tuple[Any, ...]) -> World:
    """Start anew from what is stored."""
    again = World([flavor(), namespace(), cohort("all")], settings=Settings())
    for name in "ab":
        again.observe(made.queues[cluster_queue(name, {}).name])
        again.observe(local_queue(f"team/{name}", name))
    for fact in made.workloads.values():
        again.observe(fact)
    for credit in (LASTING, *facts, *stored):
        again.engine.observe_credit(credit)
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
