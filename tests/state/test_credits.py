"""Credits in the engine: ledgers from statuses, weights from ledgers."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    PART,
    CreditAccountFact,
    CreditGrantFact,
    CreditPolicyFact,
    Member,
    Mode,
)
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Preempt
from queueing.core.facts import Condition, Fact, Gone, Kind, PreemptionPolicy, WorkloadFact
from queueing.core.names import CohortName, Key, PodSetName, ResourceName, Uid
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.sim.world import World
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    quota,
    workload,
)

GPU = ResourceName("cpu")
PRICES = Prices({(None, GPU): MICRO})
A, B = Member("ClusterQueue", "a"), Member("ClusterQueue", "b")
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
SETTINGS = Settings(fair_sharing=FAIR)
ANY = preemption(reclaim=PreemptionPolicy.ANY)
START = 1_000_000.0


def policy(**fields: Any) -> CreditPolicyFact:
    """Terms under which balances do not shrink, unless a test says so."""
    terms = CreditPolicyFact(name="default", prices=PRICES, half_life_s=10**9)
    return replace(terms, **fields)


def two_queues(nominal: int = 4000, pool: int = 0) -> list[Fact]:
    """Two queues of one cohort, each with a door of its own name."""
    found: list[Fact] = [
        cohort("all", quotas={"default": {"cpu": pool}} if pool else ()),
        flavor(),
        namespace(),
    ]
    for name in "ab":
        quotas = {"default": {"cpu": quota(nominal)}}
        found.append(cluster_queue(name, quotas, cohort="all", preemption=ANY))
        found.append(local_queue(f"team/{name}", name))
    return found


def world(
    *facts: Fact, terms: CreditPolicyFact | None = None, settings: Settings = SETTINGS
) -> World:
    made = World((), settings=settings)
    for one in facts or two_queues():
        made.observe(one)
    if terms is not None:
        made.engine.observe_credit(terms)
    made.cycle(START)
    return made


def submit(made: World, name: str, queue: str, cores: int, *, now: float) -> WorkloadFact:
    fact = workload(name, {"cpu": cores * 1000}, local_queue=f"team/{queue}", created=now)
    made.observe(fact)
    made.cycle(now)
    return made.workloads[fact.key]


def finish(made: World, key: str, now: float) -> None:
    fact = made.workloads[Key(key)]
    conditions = {
        **fact.conditions,
        "Finished": Condition(type="Finished", status=True, reason="Succeeded", changed=now),
    }
    made.observe(replace(fact, conditions=conditions))


def account(made: World, name: str = "all") -> CreditAccountFact:
    return next(one for one in made.engine.credit_accounts() if one.cohort == name)


def balances(made: World, name: str = "all") -> dict[str, float]:
    return {
        one.member.name: round(one.balance / PART / MICRO, 3)
        for one in account(made, name).children
    }


def total(found: CreditAccountFact) -> int:
    return sum(one.balance for one in found.children) + sum(found.sinks.values())


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
    assert all(total(one) == 0 for one in made.engine.credit_accounts())


def test_without_a_policy_there_is_no_ledger() -> None:
    made = world()
    assert made.engine.credit_accounts() == ()
    assert world(terms=policy(mode=Mode.OFF)).engine.credit_accounts() == ()


def test_a_policy_may_name_its_trees_and_goes_before_a_general_one() -> None:
    made = world(terms=policy())
    made.engine.observe_credit(
        replace(policy(name="special"), root_cohorts=(CohortName("all"),), unit="hours")
    )
    made.cycle(START + 1)
    assert account(made).policy == "special"
    assert made.engine.credit_policies() == {"default": (), "special": ("all",)}


def test_a_grant_is_booked_once() -> None:
    made = world(terms=policy())
    grant = CreditGrantFact(
        name="gift", uid=Uid("g"), receiver=A, amount=50 * MICRO, at=int(START) + 5
    )
    for wait in (0, 10, 20):
        made.engine.observe_credit(grant)
        made.cycle(START + wait)
    assert balances(made) == {"a": 50, "b": 0}
    assert account(made).grants == {"g": False}
    assert total(account(made)) == 0


def test_what_happened_before_a_grant_counts_before_it_however_seldom_anybody_looks() -> None:
    found = []
    for looks in (range(1, 60), (60,)):
        made = world(terms=policy())
        made.engine.observe_credit(
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
    made.engine.observe_credit(
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


# What balances do -----------------------------------------------------------------------------


def rich_and_poor(**terms: Any) -> World:
    """Both queues want the whole pool; `b` has lent for long."""
    made = world(*two_queues(nominal=0, pool=4000), terms=policy(**terms))
    made.engine.observe_credit(
        CreditGrantFact(name="g", uid=Uid("g"), receiver=B, amount=HOUR * MICRO, at=int(START))
    )
    return made


def preempted(made: World, now: float) -> list[str]:
    return [one.workload for one in made.cycle(now).decisions if isinstance(one, Preempt)]


def test_the_richer_queue_takes_the_pool() -> None:
    made = rich_and_poor(horizon_s=600)
    submit(made, "holds", "a", 4, now=START)
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 60) == ["team/holds"]


def test_weights_stay_bent_when_an_object_changes_and_no_balance_does() -> None:
    made = rich_and_poor(horizon_s=600)
    submit(made, "holds", "a", 4, now=START)
    made.cycle(START + 60)
    made.observe(cohort("elsewhere"))
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 60) == ["team/holds"]


def test_without_fair_sharing_balances_bend_nothing() -> None:
    made = world(
        *two_queues(nominal=0, pool=4000), terms=policy(horizon_s=600), settings=Settings()
    )
    made.engine.observe_credit(
        CreditGrantFact(name="g", uid=Uid("g"), receiver=B, amount=HOUR * MICRO, at=int(START))
    )
    submit(made, "holds", "a", 4, now=START)
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 60) == []
    assert {one.exponent for one in account(made).children} == {0}


def test_a_small_difference_is_not_worth_a_preemption() -> None:
    made = rich_and_poor(horizon_s=600, hysteresis=Fraction(16), bound=3)
    submit(made, "holds", "a", 4, now=START)
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 60) == []


def test_a_workload_runs_for_the_minimum_runtime_before_shares_take_it() -> None:
    made = rich_and_poor(horizon_s=600, minimum_runtime_s=1800)
    submit(made, "holds", "a", 4, now=START)
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 1799) == []
    assert preempted(made, START + 1800) == ["team/holds"]


def test_nominal_quota_is_reclaimed_without_regard_to_balances_and_runtime() -> None:
    made = world(terms=policy(minimum_runtime_s=1800, horizon_s=600))
    made.engine.observe_credit(
        CreditGrantFact(name="g", uid=Uid("g"), receiver=A, amount=HOUR * MICRO, at=int(START))
    )
    submit(made, "borrows", "a", 8, now=START)
    made.observe(workload("own", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    assert preempted(made, START + 10) == ["team/borrows"]


def test_the_engine_wakes_itself_when_balances_may_have_moved_shares() -> None:
    made = rich_and_poor(horizon_s=25_600)
    submit(made, "holds", "a", 4, now=START)
    made.observe(workload("wants", {"cpu": 4000}, local_queue="team/b", created=START + 1))
    wake = made.cycle(START + 1).wake_at
    assert wake is not None
    assert START + 1 < wake <= START + 101


@pytest.mark.parametrize("compatibility", list(Compatibility))
def test_two_queues_take_turns_with_the_slice_that_the_terms_predict(
    compatibility: Compatibility,
) -> None:
    settings = Settings(fair_sharing=FAIR, compatibility=compatibility)
    terms = policy(horizon_s=6 * HOUR)
    made = world(*two_queues(nominal=0, pool=4000), terms=terms, settings=settings)
    for name in "ab":
        made.observe(workload(f"{name}1", {"cpu": 4000}, local_queue=f"team/{name}"))
    switches = []
    for step in range(3 * 24 * 60):
        now = START + step * 60
        if preempted(made, now):
            switches.append(now)
            made.drain(now)
    slices = [later - sooner for sooner, later in pairwise(switches[1:])]
    predicted = 6 * HOUR * 0.3219
    assert len(slices) > 25
    assert sum(slices) / len(slices) == pytest.approx(predicted, rel=0.05)


# Starting anew --------------------------------------------------------------------------------


def restarted(made: World, stored: Iterable[CreditAccountFact], terms: CreditPolicyFact) -> World:
    """A new process that knows what objects say."""
    anew = World((), settings=SETTINGS)
    for fact in [*two_queues(), *made.workloads.values()]:
        anew.observe(fact)
    for one in stored:
        anew.engine.observe_credit(one)
    anew.engine.observe_credit(terms)
    return anew


def test_a_new_process_counts_what_happened_since_the_account_was_stored() -> None:
    terms = policy(half_life_s=5000)
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    made.cycle(START + 30)
    stored = made.engine.credit_accounts()
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
    stored = made.engine.credit_accounts()
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
    assert not made.engine.credits_name(key)
    store(made)
    assert made.engine.credits_name(key)
    made.drain(START + 60)
    assert not made.engine.credits_settled(key)
    made.cycle(START + 61)
    assert not made.engine.credits_settled(key)
    stored = store(made)
    assert made.engine.credits_settled(key)
    assert [(one.since, one.until) for one in stored[0].leavers] == [(START, START + 60)]
    finish(made, "team/own", START + 80)
    made.cycle(START + 80)
    made.cycle(START + 81)
    assert made.workloads[key].holds_quota
    anew = restarted(made, stored, terms)
    for one in (made, anew):
        one.cycle(START + 205)
    assert balances(anew) == balances(made) == {"a": -120 - 240, "b": 120 + 240}


def store(made: World) -> tuple[CreditAccountFact, ...]:
    """Write the accounts down, and hear of it."""
    stored = made.engine.credit_accounts()
    for one in stored:
        made.engine.observe_credit(one)
    return stored


def test_an_end_is_covered_once_an_account_that_knows_it_was_stored() -> None:
    made = world(terms=policy())
    submit(made, "one", "a", 6, now=START)
    finish(made, "team/one", START + 40)
    made.cycle(START + 41)
    key = Key("team/one")
    assert not made.engine.credits_cover(key)
    for one in made.engine.credit_accounts():
        made.engine.observe_credit(one)
    assert made.engine.credits_cover(key)


def test_without_a_policy_every_end_is_covered() -> None:
    made = world()
    submit(made, "one", "a", 6, now=START)
    finish(made, "team/one", START + 40)
    assert made.engine.credits_cover(Key("team/one"))


def test_what_was_removed_by_force_meanwhile_is_charged_to_nobody() -> None:
    terms = policy()
    made = world(terms=terms)
    submit(made, "one", "a", 6, now=START)
    made.cycle(START + 30)
    stored = made.engine.credit_accounts()
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
    assert made.engine.credits_behind(big, since) == ("all",)
    assert made.engine.credits_behind(Key("team/nobody"), since) == ()
    for stored in made.engine.credit_accounts():
        made.engine.observe_credit(stored)
    assert made.engine.credits_behind(big, since) == ()
    assert made.engine.credits_behind(big, since + 60) == ("all",)


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
    made.engine.credits_altered()
    assert not made.engine.credits_altered(), "nothing has changed"
    fact = made.workloads[Key("team/big")]
    made.observe(replace(fact, **less))
    made.cycle(START + 100)
    assert made.engine.credits_altered() is asked
    made.cycle(START + 100 + lag)
    assert made.engine.credits_altered() is not asked
    made.observe(cluster_queue("a", {"default": {"cpu": quota(2000)}}, cohort="all"))
    made.cycle(START + 200)
    assert made.engine.credits_altered()


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
