"""Ledgers from statuses: who pays whom, and what was given."""

from dataclasses import replace

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditGrantFact,
    CreditMode,
)
from queueing.core.facts import Fact
from queueing.core.names import CohortName, Uid
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    quota,
)
from tests.state.credits.ledgers import (
    START,
    A,
    B,
    account,
    balances,
    finish,
    policy,
    submit,
    total,
    two_queues,
    world,
)


def test_a_borrower_pays_the_sibling_whose_idle_quota_it_uses() -> None:
    made = world(terms=policy())
    submit(made, "big", "a", 6, now=START)
    made.cycle(START + 100)
    assert balances(made) == {"a": -200, "b": 200}


def test_use_within_the_own_quota_costs_nothing() -> None:
    made = world(terms=policy())
    submit(made, "fits", "a", 4, now=START)
    made.cycle(START + 100)
    assert balances(made) == {"a": 0, "b": 0}


def test_the_end_counts_at_the_time_in_the_status() -> None:
    made = world(terms=policy())
    submit(made, "big", "a", 6, now=START)
    made.cycle(START + 10)
    finish(made, "team/big", START + 40)
    made.cycle(START + 500)
    assert balances(made) == {"a": -80, "b": 80}


def test_what_happened_before_a_change_of_quota_counts_by_the_quota_of_then() -> None:
    """Both are heard of at once, a minute after the end."""
    made = world(terms=policy())
    submit(made, "big", "a", 6, now=START)
    made.cycle(START + 10)
    finish(made, "team/big", START + 40)
    made.observe(cluster_queue("a", {"default": {"cpu": quota(2000)}}, cohort="all"))
    made.cycle(START + 100)
    assert account(made).children[0].spent == 2 * 40 * MICRO * PART


def test_a_lending_limit_bounds_what_is_earned_and_not_what_is_idle() -> None:
    facts = two_queues()
    limited = cluster_queue("b", {"default": {"cpu": quota(4000, lending=1000)}}, cohort="all")
    made = world(*facts, limited, terms=policy())
    submit(made, "own", "b", 2, now=START)
    submit(made, "big", "a", 5, now=START)
    made.cycle(START + 100)
    assert balances(made) == {"a": -100, "b": 100}


def test_cohorts_lend_to_each_other_as_queues_do() -> None:
    facts: list[Fact] = [
        cohort("root"),
        cohort("left", "root"),
        cohort("right", "root"),
        flavor(),
        namespace(),
        cluster_queue("a", {"default": {"cpu": 4000}}, cohort="left"),
        cluster_queue("b", {"default": {"cpu": 4000}}, cohort="right"),
        local_queue("team/a", "a"),
    ]
    made = world(*facts, terms=policy())
    submit(made, "big", "a", 7, now=START)
    made.cycle(START + 100)
    assert balances(made, "root") == {"left": -300, "right": 300}
    assert balances(made, "left") == {"a": -300}
    assert all(total(one) == 0 for one in made.engine.credits.accounts())


def test_without_a_policy_there_is_no_ledger() -> None:
    made = world()
    assert made.engine.credits.accounts() == ()
    assert world(terms=policy(mode=CreditMode.OFF)).engine.credits.accounts() == ()


def test_a_policy_may_name_its_trees_and_goes_before_a_general_one() -> None:
    made = world(terms=policy())
    made.engine.observe(
        replace(policy(name="special"), root_cohorts=(CohortName("all"),), unit="hours")
    )
    made.cycle(START + 1)
    assert account(made).policy == "special"
    assert made.engine.credits.policies() == {"default": (), "special": ("all",)}


def test_a_grant_is_booked_once() -> None:
    made = world(terms=policy())
    grant = CreditGrantFact(
        name="gift", uid=Uid("g"), receiver=A, amount=50 * MICRO, at=int(START) + 5
    )
    for wait in (0, 10, 20):
        made.engine.observe(grant)
        made.cycle(START + wait)
    assert balances(made) == {"a": 50, "b": 0}
    assert account(made).grants == {"g": False}
    assert total(account(made)) == 0


def test_what_happened_before_a_grant_counts_before_it_however_seldom_anybody_looks() -> None:
    found = []
    for looks in (range(1, 60), (60,)):
        made = world(terms=policy())
        made.engine.observe(
            CreditGrantFact(name="gift", uid=Uid("g"), receiver=B, amount=MICRO, at=int(START) + 30)
        )
        submit(made, "one", "a", 8, now=START + 1)
        for second in looks:
            made.cycle(START + second)
        made.cycle(START + 60)
        assert balances(made) == {"a": -4 * 59, "b": 4 * 59 + 1}
        found.append([replace(one, exponent=0) for one in account(made).children])
    assert found[0] == found[1]


def test_what_is_left_of_a_grant_is_taken_back_when_it_expires() -> None:
    made = world(terms=policy(half_life_s=1024))
    made.engine.observe(
        CreditGrantFact(
            name="gift",
            uid=Uid("g"),
            receiver=A,
            amount=64 * MICRO,
            at=int(START),
            expires_at=int(START) + 1024,
        )
    )
    made.cycle(START + 1023)
    assert balances(made)["a"] == pytest.approx(32, rel=0.01)
    made.cycle(START + 1025)
    assert balances(made)["a"] == pytest.approx(0, abs=0.001)
