"""Accounts as they are stored: what a new process makes of them, and what they cover."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from queueing.core.credits.facts import (
    CreditAccountFact,
    CreditPolicyFact,
)
from queueing.core.facts import Gone, Kind
from queueing.core.names import Key, PodSetName, ResourceName
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    quota,
    workload,
)
from tests.state.credits.ledgers import (
    SETTINGS,
    START,
    account,
    balances,
    finish,
    policy,
    submit,
    total,
    two_queues,
    world,
)

# Starting anew --------------------------------------------------------------------------------


def restarted(
    made: SimulatedCluster, stored: Iterable[CreditAccountFact], terms: CreditPolicyFact
) -> SimulatedCluster:
    """A new process that knows what objects say."""
    anew = SimulatedCluster((), settings=SETTINGS)
    for fact in [*two_queues(), *made.workloads.values()]:
        anew.observe(fact)
    for one in stored:
        anew.engine.observe(one)
    anew.engine.observe(terms)
    return anew


def test_a_new_process_counts_what_happened_since_the_account_was_stored() -> None:
    terms = policy(half_life_s=5000)
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    made.cycle(START + 30)
    stored = made.engine.credits.accounts()
    submit(made, "two", "b", 2, now=START + 50)
    finish(made, "team/one", START + 70)
    submit(made, "three", "b", 5, now=START + 90)
    anew = restarted(made, stored, terms)
    for one in (made, anew):
        one.cycle(START + 1234)
    assert balances(anew)["a"] != 0
    assert [(one.member, one.balance) for one in account(anew).children] == [
        (one.member, one.balance) for one in account(made).children
    ]
    assert account(anew).sinks == account(made).sinks


def test_a_new_process_counts_an_evicted_workload_up_to_its_release() -> None:
    terms = policy()
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    made.observe(workload("own", {"cpu": 4000}, local_queue="team/b", created=START + 20))
    made.cycle(START + 20)
    made.cycle(START + 30)
    stored = made.engine.credits.accounts()
    assert [one.uid for one in stored[0].leavers] == ["team/one"]
    made.drain(START + 60)
    anew = restarted(made, stored, terms)
    for one in (made, anew):
        one.cycle(START + 60)
        one.cycle(START + 100)
    assert balances(anew) == balances(made) == {"a": -120, "b": 120}


def test_what_was_released_and_reserved_again_is_named_until_the_account_holds_it() -> None:
    """The status of a workload that reserved again no longer tells of its first stay."""
    terms = policy(lag_s=5)
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    key = Key("team/one")
    made.cycle(START + 30)
    store(made)
    made.observe(workload("own", {"cpu": 4000}, local_queue="team/b", created=START + 40))
    made.cycle(START + 40)
    made.cycle(START + 41)
    assert not made.engine.credits.names(key)
    store(made)
    assert made.engine.credits.names(key)
    made.drain(START + 60)
    assert not made.engine.credits.settled(key)
    made.cycle(START + 61)
    assert not made.engine.credits.settled(key)
    stored = store(made)
    assert made.engine.credits.settled(key)
    assert [(one.since, one.until) for one in stored[0].leavers] == [(START, START + 60)]
    finish(made, "team/own", START + 80)
    made.cycle(START + 80)
    made.cycle(START + 81)
    assert made.workloads[key].holds_quota
    anew = restarted(made, stored, terms)
    for one in (made, anew):
        one.cycle(START + 205)
    assert balances(anew) == balances(made) == {"a": -120 - 240, "b": 120 + 240}


def store(made: SimulatedCluster) -> tuple[CreditAccountFact, ...]:
    """Write the accounts down, and hear of it."""
    stored = made.engine.credits.accounts()
    for one in stored:
        made.engine.observe(one)
    return stored


def test_an_end_is_covered_once_an_account_that_knows_it_was_stored() -> None:
    made = world(terms=policy())
    submit(made, "one", "a", 6, now=START)
    finish(made, "team/one", START + 40)
    made.cycle(START + 41)
    key = Key("team/one")
    assert not made.engine.credits.covers(key)
    for one in made.engine.credits.accounts():
        made.engine.observe(one)
    assert made.engine.credits.covers(key)


def test_without_a_policy_every_end_is_covered() -> None:
    made = world()
    submit(made, "one", "a", 6, now=START)
    finish(made, "team/one", START + 40)
    assert made.engine.credits.covers(Key("team/one"))


def test_what_was_removed_by_force_meanwhile_is_charged_to_nobody() -> None:
    terms = policy()
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    made.cycle(START + 30)
    stored = made.engine.credits.accounts()
    made.observe(Gone(Kind.WORKLOAD, "team/one"))
    anew = restarted(made, stored, terms)
    anew.cycle(START + 500)
    assert balances(anew) == {"a": -60, "b": 60}


def test_debt_outlives_a_queue_that_is_deleted_and_made_again() -> None:
    made = world(terms=policy())
    submit(made, "big", "a", 6, now=START)
    finish(made, "team/big", START + 100)
    made.cycle(START + 100)
    made.observe(Gone(Kind.WORKLOAD, "team/big"))
    made.observe(Gone(Kind.CLUSTER_QUEUE, "a"))
    made.cycle(START + 200)
    made.observe(next(one for one in two_queues() if getattr(one, "name", "") == "a"))
    made.cycle(START + 300)
    assert balances(made)["a"] == -200


def test_accounts_that_lag_behind_a_change_are_those_above_what_is_held() -> None:
    made = world(terms=policy())
    submit(made, "big", "a", 4, now=START)
    made.cycle(START + 60)
    big, since = Key("team/big"), int(START) + 50
    assert made.engine.credits.behind(big, since) == ("all",)
    assert made.engine.credits.behind(Key("team/nobody"), since) == ()
    for stored in made.engine.credits.accounts():
        made.engine.observe(stored)
    assert made.engine.credits.behind(big, since) == ()
    assert made.engine.credits.behind(big, since + 60) == ("all",)


ONE_POD_LESS = {"reclaimable": {PodSetName("main"): 1}}
LESS_GIVEN = {"given": {PodSetName("main"): {ResourceName("cpu"): 3_000}}}


@pytest.mark.parametrize(
    ("lag", "asked", "less"),
    [
        pytest.param(0, True, ONE_POD_LESS, id="at once"),
        pytest.param(5, False, ONE_POD_LESS, id="not before it is counted"),
        pytest.param(0, True, LESS_GIVEN, id="also when devices count as less"),
    ],
)
def test_accounts_are_to_be_written_when_terms_change_and_once(
    lag: int, less: dict[str, Any], *, asked: bool
) -> None:
    made = world(terms=policy(lag_s=lag))
    submit(made, "big", "a", 4, now=START)
    made.cycle(START + 60)
    made.engine.credits.is_altered()
    assert not made.engine.credits.is_altered(), "nothing has changed"
    fact = made.workloads[Key("team/big")]
    made.observe(replace(fact, **less))
    made.cycle(START + 100)
    assert made.engine.credits.is_altered() is asked
    made.cycle(START + 100 + lag)
    assert made.engine.credits.is_altered() is not asked
    made.observe(cluster_queue("a", {"default": {"cpu": quota(2000)}}, cohort="all"))
    made.cycle(START + 200)
    assert made.engine.credits.is_altered()


def test_a_queue_that_moves_as_its_first_workload_begins_is_counted_where_it_is_now() -> None:
    made = world(*two_queues(), cohort("other", quotas={"default": {"cpu": 4000}}), terms=policy())
    for name in "cd":
        made.observe(cluster_queue(name, {"default": {"cpu": 1000}}, cohort="other"))
    made.cycle(START)
    made.observe(workload("one", {"cpu": 4000}, local_queue="team/a", created=START))
    made.cycle(START + 1)
    made.observe(cluster_queue("a", {"default": {"cpu": 1000}}, cohort="other"))
    made.cycle(START + 11)
    made.cycle(START + 21)
    assert balances(made, "other")["a"] < 0
    assert balances(made)["b"] == 0
    assert total(account(made, "other")) == 0


def test_work_that_ended_before_its_queue_moved_is_paid_for_where_it_was() -> None:
    made = world(terms=policy())
    made.observe(cohort("other"))
    made.observe(cluster_queue("c", {"default": {"cpu": 4000}}, cohort="other"))
    made.cycle(START)
    submit(made, "one", "a", 8, now=START + 10)
    finish(made, "team/one", START + 20)
    made.observe(cluster_queue("a", {"default": {"cpu": 4000}}, cohort="other"))
    made.cycle(START + 30)
    assert balances(made)["b"] == 40
