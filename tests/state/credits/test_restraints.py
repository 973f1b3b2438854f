"""Who may not borrow: workloads of a high priority in two queues of 4 cores and one cohort."""

import random
from dataclasses import replace
from typing import Any

import pytest

from queueing.core.credits.facts import (
    BudgetFact,
    CreditGone,
    CreditKind,
    CreditMode,
    CreditPolicyFact,
    HolderKind,
)
from queueing.core.decisions import Preempt, Reason
from queueing.core.facts import Fact, Gone, Kind, PreemptionPolicy, Strategy
from queueing.core.names import Key
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import SimulatedCluster
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
from queueing.testing.invariants import check_invariants
from tests.state.members import CORE_PRICES, finish, runs, waits

START = 1_000_000.0
HIGH = 100
POLICY = CreditPolicyFact(
    name="p",
    prices=CORE_PRICES,
    non_borrowing_min_priority=HIGH,
)
CLASSICAL = Settings()
FAIR = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))


def world(*, settings: Settings = CLASSICAL, **rule: Any) -> SimulatedCluster:
    made = SimulatedCluster([cohort("all"), flavor(), namespace()], settings=settings)
    for name in "ab":
        made.observe(queue(name))
        made.observe(local_queue(f"team/{name}", name))
    made.engine.observe(replace(POLICY, **rule))
    made.cycle(START)
    return made


def queue(name: str, cores: int = 4) -> Fact:
    policies = preemption(reclaim=PreemptionPolicy.ANY)
    quotas = {"default": {"cpu": cores * 1000}}
    return cluster_queue(name, quotas, cohort="all", preemption=policies)


def submit(
    made: SimulatedCluster, name: str, cores: int, priority: int, *, where: str = "a"
) -> None:
    fact = workload(
        name,
        {"cpu": cores * 1000},
        local_queue=f"team/{where}",
        created=START + len(made.workloads),
        priority=priority,
    )
    made.observe(fact)


def run(made: SimulatedCluster, name: str, cores: int, priority: int, *, where: str = "a") -> bool:
    submit(made, name, cores, priority, where=where)
    made.cycle(START + len(made.workloads))
    return runs(made, name)


@pytest.mark.parametrize("settings", [CLASSICAL, FAIR], ids=["classical", "fair sharing"])
@pytest.mark.parametrize(
    ("cores", "priority", "want"),
    [
        pytest.param(5, HIGH, False, id="beyond nominal quota"),
        pytest.param(4, HIGH, True, id="within nominal quota"),
        pytest.param(5, HIGH - 1, True, id="beyond it, of a lower priority"),
    ],
)
def test_only_those_of_a_high_priority_may_not_borrow(
    settings: Settings, cores: int, priority: int, want: bool
) -> None:
    assert run(world(settings=settings), "one", cores, priority) is want


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"non_borrowing_min_priority": None}, id="no rule"),
        pytest.param({"mode": CreditMode.OFF}, id="mode Off"),
    ],
)
def test_without_the_rule_everybody_may_borrow(rule: dict[str, Any]) -> None:
    assert run(world(**rule), "one", 8, HIGH)


def test_who_may_not_borrow_is_told_how_much_nominal_quota_is_missing() -> None:
    made = world()
    assert not run(made, "one", 6, HIGH)
    assert waits(made, "one").reason is Reason.MAY_NOT_BORROW
    assert waits(made, "one").message == (
        "workloads of priority 100 and above may not borrow:"
        " 2 more nominal quota needed for cpu in flavor default"
    )


def test_nominal_quota_is_for_all_of_them_together_and_others_do_not_count() -> None:
    made = world()
    assert run(made, "other", 4, 0)
    assert run(made, "first", 3, HIGH), "what the other one holds is borrowed instead"
    assert not run(made, "second", 2, HIGH + 1)
    assert run(made, "third", 1, HIGH)


def test_two_that_do_not_fit_together_are_not_both_let_in_at_once() -> None:
    made = world()
    for name in ("one", "two"):
        submit(made, name, 3, HIGH)
    made.cycle(START + 5)
    assert [runs(made, "one"), runs(made, "two")] == [True, False]


def test_who_waits_is_woken_when_one_of_them_ends() -> None:
    made = world()
    run(made, "first", 3, HIGH)
    assert not run(made, "second", 2, HIGH)
    finish(made, "first", START + 60)
    assert runs(made, "second")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(queue("a", cores=6), id="more quota"),
        pytest.param(replace(POLICY, non_borrowing_min_priority=HIGH + 1), id="another rule"),
        pytest.param(replace(POLICY, non_borrowing_min_priority=None), id="no rule any more"),
        pytest.param(CreditGone(CreditKind.POLICY, "p"), id="no policy any more"),
    ],
)
def test_who_waits_is_woken_by_a_change_of_the_rule(change: Any) -> None:
    made = world()
    assert not run(made, "one", 6, HIGH)
    if isinstance(change, CreditPolicyFact | CreditGone):
        made.engine.observe(change)
    else:
        made.observe(change)
    made.cycle(START + 60)
    assert runs(made, "one")


def test_a_restart_knows_what_those_hold_who_may_not_borrow() -> None:
    made = world()
    run(made, "first", 3, HIGH)
    again = world()
    for fact in made.workloads.values():
        again.observe(fact)
    assert not run(again, "second", 2, HIGH)


@pytest.mark.parametrize("settings", [CLASSICAL, FAIR], ids=["classical", "fair sharing"])
def test_a_lender_takes_back_from_others_than_those_who_did_not_borrow(settings: Settings) -> None:
    made = world(settings=settings)
    assert run(made, "low", 4, 0)
    assert run(made, "high", 4, HIGH)
    submit(made, "back", 4, 0, where="b")
    decided = made.engine.cycle(START + 60).decisions
    assert [one.workload for one in decided if isinstance(one, Preempt)] == ["team/low"]


def test_who_may_not_borrow_takes_back_what_its_queue_lent() -> None:
    made = world()
    assert run(made, "borrower", 8, 0, where="b")
    submit(made, "own", 4, HIGH)
    decided = made.engine.cycle(START + 60).decisions
    assert [one.workload for one in decided if isinstance(one, Preempt)] == ["team/borrower"]


def test_nobody_is_preempted_for_one_that_would_borrow() -> None:
    made = world()
    assert run(made, "low", 8, 0)
    submit(made, "high", 5, HIGH)
    assert not [one for one in made.engine.cycle(START + 60).decisions if isinstance(one, Preempt)]


def test_fewer_pods_run_where_all_of_them_would_borrow() -> None:
    made = world()
    sets = (pod_set({"cpu": 1000}, 8, min_count=1),)
    made.observe(
        workload("elastic", local_queue="team/a", created=START, pod_sets=sets, priority=HIGH)
    )
    made.cycle(START + 1)
    admission = made.workloads[Key("team/elastic")].admission
    assert admission is not None
    assert admission.pod_sets[0].count == 4


def test_a_budget_and_the_rule_both_count() -> None:
    made = world()
    made.engine.observe(
        BudgetFact(
            name="b", kind=HolderKind.CLUSTER_QUEUE, holder="a", grant=10**9, created=int(START)
        )
    )
    made.cycle(START + 1)
    assert not run(made, "undeclared", 1, 0)
    assert waits(made, "undeclared").reason is Reason.BUDGET_EXHAUSTED
    assert not run(made, "large", 6, HIGH)
    assert waits(made, "large").reason is Reason.MAY_NOT_BORROW


def test_who_waits_for_room_may_not_borrow_it_either_once_it_is_there() -> None:
    made = world()
    for name in "ab":
        made.observe(cluster_queue(name, {"default": {"cpu": 4000}}, cohort="all"))
    assert run(made, "filler", 8, 0, where="b")
    assert not run(made, "one", 3, HIGH)
    assert not run(made, "two", 3, HIGH)
    finish(made, "filler", START + 50)
    assert runs(made, "one")
    assert not runs(made, "two")


def test_who_may_not_borrow_for_fewer_pods_either_hears_of_a_change_of_the_rule() -> None:
    made = world()
    assert run(made, "own", 2, HIGH)
    sets = (pod_set({"cpu": 1000}, 8, min_count=3),)
    made.observe(
        workload("elastic", local_queue="team/a", created=START, pod_sets=sets, priority=HIGH)
    )
    made.cycle(START + 1)
    assert waits(made, "elastic").reason is Reason.WAITING_FOR_QUOTA
    made.engine.observe(replace(POLICY, non_borrowing_min_priority=None))
    made.cycle(START + 2)
    assert runs(made, "elastic")


def test_a_strict_head_that_may_not_borrow_keeps_no_quota_from_others() -> None:
    made = world()
    lower = PreemptionPolicy.LOWER_PRIORITY
    strict = cluster_queue(
        "a",
        {"default": {"cpu": 4000}},
        cohort="all",
        strategy=Strategy.STRICT_FIFO,
        preemption=preemption(reclaim=lower, borrow=lower),
    )
    made.observe(strict)
    assert run(made, "filler", 4, 0, where="b")
    assert not run(made, "head", 5, HIGH)
    assert waits(made, "head").reason is Reason.WAITING_FOR_QUOTA
    assert run(made, "borrower", 2, 0, where="b")


def test_what_they_hold_is_followed_whoever_comes_goes_or_is_raised() -> None:
    chance, made = random.Random(7), world()
    for number in range(60):
        name, where = f"w{number}", chance.choice("ab")
        submit(made, name, chance.randint(1, 3), chance.choice((0, HIGH)), where=where)
        made.cycle(START + number)
        check_invariants(made.engine)
        held = sorted(key for key, fact in made.workloads.items() if fact.holds_quota)
        if held:
            fact = made.workloads[chance.choice(held)]
            raised = replace(fact, priority=HIGH - fact.priority)
            made.observe(raised if number % 3 else Gone(Kind.WORKLOAD, fact.key))
            check_invariants(made.engine)
    assert len(made.workloads) > 20


def test_who_asks_for_nothing_borrows_nothing_after_a_quota_was_cut_below_what_runs() -> None:
    made = world()
    assert run(made, "before", 4, HIGH)
    made.observe(queue("a", cores=2))
    assert run(made, "nothing", 0, HIGH)
