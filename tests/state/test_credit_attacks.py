"""What people may try with credits, and what comes of it: two queues of 4 cores in one cohort."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditAccountFact,
    CreditGrantFact,
    Member,
    SavedFact,
)
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Preempt
from queueing.core.facts import Condition, Fact, Gone, Kind, PreemptionPolicy
from queueing.core.names import Key, ResourceName, Uid
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import World
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from tests.state.members import LASTING

START = 1_000_000.0
SETTINGS = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
QUEUES = ("a", "b", "c")


def world(**terms: Any) -> World:
    """Make three queues under terms by which balances do not shrink, unless a test says so."""
    policy = replace(LASTING, **terms)
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


def moved(made: World, name: str, to: str, at: float) -> dict[str, dict[str, int]]:
    """Move a queue to another cohort; return the balances of both."""
    own = {"default": {"cpu": 4000}}
    made.observe(cluster_queue(name, own, cohort=to))
    made.cycle(at)
    found = {}
    for account in made.engine.credit_accounts():
        assert sum(one.balance for one in account.children) + sum(account.sinks.values()) == 0
        of = {one.member.name: round(one.balance / PART / MICRO) for one in account.children}
        found[str(account.cohort)] = of
    return found


def with_debt() -> World:
    """Make a world in which `a` owes 800, `b` and `c` have 400 each, and `d` is elsewhere."""
    made = world()
    made.observe(cohort("other"))
    made.observe(cluster_queue("d", {"default": {"cpu": 4000}}, cohort="other"))
    run(made, "big", "a", 12, at=START)
    end(made, "big", START + 100)
    made.cycle(START + 101)
    return made


def test_debt_goes_along_with_a_queue_that_is_moved() -> None:
    made = with_debt()
    assert moved(made, "a", "other", START + 102) == {
        "all": {"a": 0, "b": 400, "c": 400},
        "other": {"a": -800, "d": 0},
    }
    back = moved(made, "a", "all", START + 103)
    assert (back["all"]["a"], back["other"]["a"]) == (-800, 0)


def test_debt_goes_along_with_the_last_queue_of_a_cohort() -> None:
    made = with_debt()
    for name in "bc":
        moved(made, name, "third", START + 102)
    assert moved(made, "a", "other", START + 103)["other"] == {"a": -800, "d": 0}


def test_a_surplus_is_not_taken_along_and_waits_for_a_return() -> None:
    made = with_debt()
    assert moved(made, "b", "other", START + 102)["other"] == {"b": 0, "d": 0}
    assert moved(made, "b", "all", START + 103)["all"]["b"] == 400


def test_a_restart_after_a_move_finds_the_debt_where_the_queue_is() -> None:
    made = with_debt()
    stored = made.engine.credit_accounts()
    again = World([cohort("all"), cohort("other"), flavor(), namespace()], settings=SETTINGS)
    for name in "bc":
        again.observe(queue(name))
    for name in "ad":
        again.observe(cluster_queue(name, {"default": {"cpu": 4000}}, cohort="other"))
    again.engine.observe_credit(LASTING)
    for account in stored:
        again.engine.observe_credit(account)
    assert moved(again, "a", "other", START + 102)["other"] == {"a": -800, "d": 0}


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


# Preempted work ---------------------------------------------------------------------------------


def choose(made: World, name: str, at: float) -> None:
    """Let a workload be evicted that still holds its quota."""
    fact = made.workloads[Key(f"team/{name}")]
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Evicted": evicted}))


def evict(made: World, name: str, at: float) -> None:
    """Let a workload give its quota back."""
    fact = made.workloads[Key(f"team/{name}")]
    released = Condition(type="QuotaReserved", status=False, reason="Pending", changed=at)
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=at)
    held = Condition(type="Requeued", status=False, reason="Preempted", changed=at)
    conditions = {**fact.conditions}
    conditions |= {one.type: one for one in (released, evicted, held)}
    made.observe(replace(fact, admission=None, conditions=conditions))


def test_quota_whose_nodes_are_lost_earns_only_what_others_really_hold_of_it() -> None:
    """Six of twelve cores are lost: their work is evicted, and what still fits is all that pays."""
    made = world()
    run(made, "lost", "a", 8, at=START)
    run(made, "kept", "a", 2, at=START)
    evict(made, "lost", START + 100)
    then = balances(made, START + 100)
    assert then["b"] == then["c"] == 300
    assert balances(made, START + 200) == then
    run(made, "back", "a", 3, at=START + 200)
    assert balances(made, START + 300)["a"] == then["a"] - 100


def saved(name: str, at: float) -> SavedFact:
    return SavedFact(name=f"team/{name}-1", uid=Uid(f"team/{name}"), at=int(at))


def child(made: World, name: str) -> tuple[float, float]:
    """Return what a queue has, and what evictions lost of its work."""
    [account] = made.engine.credit_accounts()
    [one] = [each for each in account.children if each.member.name == name]
    return round(one.balance / PART / MICRO, 2), one.wasted / PART / MICRO


@pytest.mark.parametrize(
    ("save_at", "balance", "wasted"),
    [
        pytest.param(None, -4000, 8000, id="nothing saved: nothing back, all is lost"),
        pytest.param(900, -4000 + 400, 800, id="saved: what was paid since comes back"),
        pytest.param(1000, -4000, 0, id="saved at the end: nothing was lost"),
        pytest.param(10, -4000 + 3600, 7920, id="saved long ago: a quarter of an hour at most"),
    ],
)
def test_what_was_paid_for_work_since_its_checkpoint_comes_back(
    save_at: int | None, balance: float, wasted: float
) -> None:
    made = world()
    run(made, "victim", "a", 8, at=START)
    if save_at is not None:
        made.engine.observe_credit(saved("victim", START + save_at))
    evict(made, "victim", START + 1000)
    balances(made, START + 1100)
    assert child(made, "a") == (balance, wasted)


def test_saving_without_being_preempted_gains_nothing() -> None:
    made = world()
    run(made, "own", "a", 8, at=START)
    made.engine.observe_credit(saved("own", START + 50))
    end(made, "own", START + 100)
    balances(made, START + 200)
    assert child(made, "a") == (-400, 0)


@pytest.mark.parametrize("written_at", [950, 1000, 1050])
def test_a_restart_refunds_and_counts_waste_once(written_at: int) -> None:
    made = world()
    stored: tuple[CreditAccountFact, ...] = ()
    run(made, "victim", "a", 8, at=START)
    run(made, "other", "a", 2, at=START)
    save = saved("victim", START + 900)
    for at in range(0, 1101, 50):
        if at == 900:
            made.engine.observe_credit(save)
        if at == 950:
            choose(made, "victim", START + at)
            choose(made, "other", START + at)
        if at == 1000:
            evict(made, "victim", START + at)
            evict(made, "other", START + at)
        made.cycle(START + at)
        if at <= written_at:
            stored = made.engine.credit_accounts()
    again = World([cohort("all"), flavor(), namespace()], settings=SETTINGS)
    for name in QUEUES:
        again.observe(queue(name))
        again.observe(local_queue(f"team/{name}", name))
    for fact in made.workloads.values():
        again.observe(fact)
    again.engine.observe_credit(LASTING)
    again.engine.observe_credit(save)
    for account in stored:
        again.engine.observe_credit(account)
    again.cycle(START + 1100)
    assert child(again, "a") == child(made, "a")


# Shapes -----------------------------------------------------------------------------------------


def pool(*, weights: tuple[float, float] = (1, 1)) -> World:
    """Make two queues without quota of their own, and a pool of 4 cores and 4 gpus."""
    fair = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
    quotas = {"default": {"cpu": 4000, "gpu": 4}}
    made = World(
        [cohort("all", quotas=quotas), flavor(), namespace()], settings=Settings(fair_sharing=fair)
    )
    for name, weight in zip("ab", weights, strict=True):
        made.observe(
            cluster_queue(
                name,
                {"default": {"cpu": 0, "gpu": 0}},
                cohort="all",
                preemption=preemption(reclaim=PreemptionPolicy.ANY),
                fair_weight=Fraction(weight),
            )
        )
        made.observe(local_queue(f"team/{name}", name))
    prices = Prices(
        {(None, ResourceName(one)): price for one, price in (("cpu", MICRO), ("gpu", MICRO))}
    )
    made.engine.observe_credit(replace(LASTING, prices=prices))
    made.cycle(START)
    return made


def give(made: World, name: str, seconds: int) -> None:
    """Give a queue so many seconds of a core."""
    grant = CreditGrantFact(
        name="gift",
        uid=Uid("gift"),
        receiver=Member("ClusterQueue", name),
        amount=seconds * MICRO,
        at=int(START),
    )
    made.engine.observe_credit(grant)


@pytest.mark.parametrize(
    ("credit", "victims"),
    [
        pytest.param(0, [], id="not without credits"),
        pytest.param(10**6, ["team/s0", "team/s1", "team/s2", "team/s3"], id="with credits"),
    ],
)
def test_credits_buy_a_gang_that_is_larger_than_its_share(credit: int, victims: list[str]) -> None:
    made = pool()
    for number in range(4):
        run(made, f"s{number}", "a", 1, at=START)
    if credit:
        give(made, "b", credit)
    made.cycle(START + 1)
    made.observe(workload("gang", {"cpu": 4000}, local_queue="team/b", created=START + 5))
    decided = made.engine.cycle(START + 200).decisions
    assert sorted(one.workload for one in decided if isinstance(one, Preempt)) == victims


def test_credits_help_nobody_whose_weight_is_zero() -> None:
    made = pool(weights=(0, 1))
    give(made, "a", 10**6)
    for name in "ab":
        made.observe(workload(name, {"cpu": 4000}, local_queue=f"team/{name}", created=START + 1))
    made.cycle(START + 10)
    assert made.workloads[Key("team/b")].holds_quota
    assert not made.workloads[Key("team/a")].holds_quota


def test_a_debt_for_one_resource_starves_nobody_of_another() -> None:
    made = pool()
    run(made, "cores", "a", 4, at=START)
    made.cycle(START + 10**5)
    made.observe(workload("gpus", {"gpu": 4}, local_queue="team/a", created=START + 10**5))
    made.cycle(START + 10**5)
    assert made.workloads[Key("team/gpus")].holds_quota
