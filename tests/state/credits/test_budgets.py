"""Hard budgets: what they cover runs, what they do not waits."""

from dataclasses import replace
from typing import Any

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    CreditGone,
    CreditKind,
    HolderKind,
)
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Reason
from queueing.core.devices import DeviceAsk
from queueing.core.names import CohortName, FlavorName, Key, ResourceName
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    pod_set,
    workload,
)
from tests.state.credits.budgeted import LOWER, START, amounts, budget, purse, run, world
from tests.state.members import CORE_PRICES, LASTING, finish, runs, waits


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
    made.engine.observe(change)
    made.cycle(START + 1)
    assert runs(made, "one")


def with_a_small_flavor(made: SimulatedCluster) -> SimulatedCluster:
    """Give the queue a second flavor, in which there is one core."""
    made.observe(flavor("small"))
    made.observe(cluster_queue("a", {"default": {"cpu": 8000}, "small": {"cpu": 1000}}))
    return made


def test_what_a_budget_bars_in_one_flavor_says_so_though_the_next_is_too_small() -> None:
    made = with_a_small_flavor(world(budget(1000)))
    assert not run(made, "one", 2, 501, at=START)
    found = waits(made, "one")
    assert found.reason is Reason.BUDGET_EXHAUSTED
    assert found.message == (
        "CreditBudget hourly grants 0.28 GPUh in each period, and a run of 501s may cost 0.28 GPUh;"
        " couldn't assign flavors to pod set main: insufficient quota for cpu in flavor small,"
        " previously considered podsets requests (0) + current podset request (2)"
        " > maximum capacity (1)"
    )


def test_what_a_budget_bars_in_one_flavor_is_woken_by_it_though_the_next_is_too_small() -> None:
    made = with_a_small_flavor(world(budget(1000)))
    assert run(made, "one", 2, 300, at=START)
    assert not run(made, "two", 2, 300, at=START)
    made.engine.observe(budget(2000))
    made.cycle(START + 1)
    assert runs(made, "two")
    assert not run(made, "three", 2, 600, at=START + 1)
    made.cycle(START + HOUR)
    assert runs(made, "three")


def test_what_a_budget_bars_in_one_flavor_is_woken_by_a_release_of_the_next() -> None:
    made = with_a_small_flavor(world(budget(0)))
    free = Prices({**CORE_PRICES.table, (FlavorName("small"), ResourceName("cpu")): 0})
    made.engine.observe(replace(LASTING, prices=free))
    made.cycle(START)
    assert run(made, "one", 1, 300, at=START)
    assert not run(made, "two", 1, 300, at=START)
    assert waits(made, "two").reason is Reason.BUDGET_EXHAUSTED
    finish(made, "one", START + 100)
    assert runs(made, "two")


def test_who_was_promised_another_flavor_is_woken_by_a_budget_that_is_loosened() -> None:
    made = with_a_small_flavor(world(budget(0)))
    made.observe(
        cluster_queue("a", {"default": {"cpu": 8000}, "small": {"cpu": 1000}}, preemption=LOWER)
    )
    free = Prices({**CORE_PRICES.table, (FlavorName("small"), ResourceName("cpu")): 0})
    made.engine.observe(replace(LASTING, prices=free))
    made.cycle(START)
    assert run(made, "low", 1, 300, at=START)
    assert not run(made, "high", 1, 300, at=START, priority=5)
    assert Key("team/high") in made.engine.memory.ledger.promised
    made.engine.observe(budget(1000))
    made.cycle(START + 1)
    assert runs(made, "high")


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


def test_a_claim_that_two_use_is_held_for_each_of_them() -> None:
    """As each is billed for it: quota is charged for it once."""
    made = world(budget(1000))
    ask = DeviceAsk(resource=ResourceName("cpu"), shape="all", units=2000, claim="shared")
    pods = (replace(pod_set({"cpu": 2000}), devices=(ask,)),)
    for name in ("one", "two"):
        assert run(made, name, 2, 200, at=START, pod_sets=pods)
    made.cycle(START)
    assert amounts(made) == (0, 800, 200)
    made.cycle(START + 100)
    assert amounts(made) == (400, 400, 200)


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
    made.engine.observe(budget(10**6))
    made.cycle(START)
    assert run(made, "low", 8, 100, at=START)
    made.engine.observe(budget(1000))
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
    assert {one.name: one.spent // MICRO for one in made.engine.credits.budgets()} == {
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


@pytest.mark.parametrize(
    ("kind", "holder", "want"),
    [
        pytest.param(HolderKind.CLUSTER_QUEUE, "a", True, id="a ClusterQueue"),
        pytest.param(HolderKind.CLUSTER_QUEUE, "gone", False, id="no such ClusterQueue"),
        pytest.param(HolderKind.COHORT, "all", True, id="a cohort"),
        pytest.param(HolderKind.LOCAL_QUEUE, "team/a", True, id="a LocalQueue"),
        pytest.param(HolderKind.LOCAL_QUEUE, "team/gone", False, id="no such LocalQueue"),
    ],
)
def test_a_budget_has_effect_where_its_holder_goes_by_prices(
    kind: HolderKind, holder: str, *, want: bool
) -> None:
    made = world(budget(1000, kind=kind, holder=holder))
    assert purse(made).bound is want
    made.engine.observe(CreditGone(CreditKind.POLICY, LASTING.name))
    made.cycle(START + 1)
    assert not purse(made).bound


@pytest.mark.parametrize(
    ("kind", "holder", "want"),
    [
        pytest.param(HolderKind.CLUSTER_QUEUE, "a", "GPUh", id="a queue in no cohort"),
        pytest.param(HolderKind.LOCAL_QUEUE, "team/a", "GPUh", id="a LocalQueue of that"),
        pytest.param(HolderKind.CLUSTER_QUEUE, "b", "coreh", id="a queue of the cohort"),
        pytest.param(HolderKind.LOCAL_QUEUE, "team/b", "coreh", id="a LocalQueue of that one"),
        pytest.param(HolderKind.COHORT, "all", "coreh", id="the cohort itself"),
    ],
)
def test_a_budget_counts_in_the_unit_of_the_policy_that_prices_its_holder(
    kind: HolderKind, holder: str, want: str
) -> None:
    made = world(budget(1000, kind=kind, holder=holder))
    of_cohort = replace(LASTING, name="cores", root_cohorts=(CohortName("all"),), unit="coreh")
    made.engine.observe(of_cohort)
    made.cycle(START + 1)
    assert purse(made).unit == want
