"""What people may try with credits, and what comes of it: two queues of 4 cores in one cohort."""

from dataclasses import replace
from typing import Any

import pytest

from queueing.core.credits.facts import MICRO, PART, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.facts import Condition, Fact, Gone, Kind
from queueing.core.names import Key, ResourceName
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import World
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    workload,
)

START = 1_000_000.0
SETTINGS = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
QUEUES = ("a", "b", "c")


def world(**terms: Any) -> World:
    """Make three queues under terms by which balances do not shrink, unless a test says so."""
    prices = Prices({(None, ResourceName("cpu")): MICRO})
    policy = replace(CreditPolicyFact(name="p", prices=prices, half_life_s=10**9), **terms)
    made = World([cohort("all"), flavor(), namespace()], settings=SETTINGS)
    for name in QUEUES:
        made.observe(queue(name))
        made.observe(local_queue(f"team/{name}", name))
    made.engine.observe_credit(policy)
    made.cycle(START)
    return made


def queue(name: str, cores: int = 4) -> Fact:
    return cluster_queue(name, {"default": {"cpu": cores * 1000}}, cohort="all")


def run(made: World, name: str, where: str, cores: int, *, at: float, **more: Any) -> None:
    made.observe(
        workload(name, {"cpu": cores * 1000}, local_queue=f"team/{where}", created=at, **more)
    )
    made.cycle(at)


def end(made: World, name: str, at: float) -> None:
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def balances(made: World, at: float) -> dict[str, float]:
    made.cycle(at)
    [account] = made.engine.credit_accounts()
    assert sum(one.balance for one in account.children) + sum(account.sinks.values()) == 0
    return {one.member.name: round(one.balance / PART / MICRO, 2) for one in account.children}


def test_flooding_between_two_looks_is_paid_for_to_the_second() -> None:
    made = world()
    for number in range(8):
        run(made, f"f{number}", "a", 1, at=START + 10)
    for number in range(8):
        end(made, f"f{number}", START + 13)
    assert balances(made, START + 600)["a"] == -(8 - 4) * 3


def test_running_for_longer_than_the_half_life_does_not_outlast_the_debt() -> None:
    made = world(half_life_s=1024, debt_limit_s=10**6)
    run(made, "long", "a", 12, at=START)
    early, late = balances(made, START + 1024), balances(made, START + 10 * 1024)
    assert late["a"] < early["a"] < 0


def test_hoarding_is_billed_like_using() -> None:
    made = world()
    run(made, "idle", "a", 12, at=START)
    assert balances(made, START + 100)["a"] == -8 * 100


def test_idling_while_nobody_borrows_earns_nothing() -> None:
    assert set(balances(world(), START + 10**6).values()) == {0}


def test_lending_to_a_friend_makes_the_pair_no_richer() -> None:
    made = world()
    run(made, "wash", "a", 8, at=START)
    run(made, "own", "c", 4, at=START)
    found = balances(made, START + 100)
    assert found["a"] + found["b"] == pytest.approx(0, abs=0.01)
    assert found["c"] == 0


def test_more_queues_without_quota_earn_nothing() -> None:
    made = world()
    for number in range(5):
        made.observe(queue(f"extra{number}", cores=0))
    run(made, "big", "a", 8, at=START)
    found = balances(made, START + 100)
    assert {found[f"extra{number}"] for number in range(5)} == {0}


def test_debt_is_not_wiped_by_deleting_a_queue_nor_by_another_name() -> None:
    made = world()
    run(made, "big", "a", 12, at=START)
    end(made, "big", START + 100)
    balances(made, START + 101)
    made.observe(Gone(Kind.WORKLOAD, "team/big"))
    made.observe(Gone(Kind.CLUSTER_QUEUE, "a"))
    before = balances(made, START + 102)
    made.observe(queue("renamed"))
    made.observe(queue("a"))
    after = balances(made, START + 103)
    assert after["a"] == before["a"] == -800
    assert after["renamed"] <= 0, "a newcomer never starts with what others earned"


def test_a_cut_of_quota_shrinks_a_surplus_and_no_debt() -> None:
    made = world()
    run(made, "big", "a", 8, at=START)
    before = balances(made, START + 100)
    for name in ("a", "b"):
        made.observe(queue(name, cores=2))
    after = balances(made, START + 100)
    assert after["a"] == before["a"] < 0
    assert after["b"] == pytest.approx(before["b"] / 2, rel=0.01)


def test_quota_that_is_gone_earns_nothing() -> None:
    """An admin who takes a lost node's quota away stops what it would have earned."""
    made = world()
    run(made, "big", "a", 8, at=START)
    balances(made, START + 100)
    for name in ("b", "c"):
        made.observe(queue(name, cores=0))
    first = balances(made, START + 100)
    assert balances(made, START + 200)["b"] == first["b"]


def test_a_clock_that_jumps_back_takes_nothing_back() -> None:
    made = world()
    run(made, "big", "a", 8, at=START + 50)
    before = balances(made, START + 150)
    assert balances(made, START + 20) == before
    assert balances(made, START + 160)["a"] == before["a"] - 40


def test_a_time_in_the_past_is_counted_from_where_the_ledger_stands() -> None:
    made = world()
    balances(made, START + 100)
    run(made, "late", "a", 8, at=START + 100)
    end(made, "late", START + 10)
    assert balances(made, START + 200)["a"] == 0


def test_a_higher_priority_costs_more_where_the_policy_says_so() -> None:
    made = world(class_factors=((100, 2),))
    run(made, "dear", "a", 8, at=START, priority=100)
    assert balances(made, START + 100)["a"] == -800
