"""Ledgers within a ClusterQueue: what namespaces lend each other, and who goes first for that."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    PART,
    CreditAccountFact,
    CreditPolicyFact,
    Mode,
    Sink,
)
from queueing.core.decisions import Preempt
from queueing.core.facts import Condition, Fact, Gone, Kind, PreemptionPolicy, Strategy
from queueing.core.names import Key, QueueName
from queueing.core.settings import AdmissionFairSharing, Settings
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
from tests.state.members import CORE_PRICES

START = 1_000_000.0
TEAMS = ("a", "b", "c")


def policy(**fields: Any) -> CreditPolicyFact:
    """Terms under which balances do not shrink, unless a test says so."""
    terms = CreditPolicyFact(
        name="default", prices=CORE_PRICES, half_life_s=10**9, orders_local_queues=True
    )
    return replace(terms, **fields)


def door(team: str, queue: str = "q", *, name: str = "main", weight: int = 1) -> Fact:
    return replace(local_queue(f"{team}/{name}", queue), fair_weight=Fraction(weight))


def queue(name: str = "q", cores: int = 9, **fields: Any) -> Fact:
    fields.setdefault("admission_fair_sharing", True)
    return cluster_queue(name, {"default": {"cpu": cores * 1000}}, **fields)


def objects(*teams: str) -> list[Fact]:
    return [
        flavor(),
        *(namespace(team) for team in TEAMS),
        queue(),
        *(door(team) for team in teams or TEAMS),
    ]


def world(
    *facts: Fact,
    terms: CreditPolicyFact | None = None,
    settings: Settings | None = None,
    now: float = START,
) -> World:
    made = World((), settings=settings or Settings())
    for one in facts or objects():
        made.observe(one)
    made.engine.observe_credit(terms or policy())
    made.cycle(now)
    return made


def run(made: World, name: str, cores: int, *, at: float, **more: Any) -> None:
    """Submit a workload of the namespace that its name begins with."""
    more.setdefault("local_queue", f"{name[0]}/main")
    created = more.pop("created", at)
    made.observe(workload(f"{name[0]}/{name}", {"cpu": cores * 1000}, created=created, **more))
    made.cycle(at)
    made.engine.check()


def end(made: World, name: str, at: float) -> None:
    fact = made.workloads[Key(f"{name[0]}/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def runs(made: World) -> set[str]:
    """Return who holds quota."""
    return {str(key).partition("/")[2] for key, one in made.workloads.items() if one.holds_quota}


def account(made: World, name: str = "q") -> CreditAccountFact:
    return next(one for one in made.engine.credit_accounts() if one.queue == name)


def balances(made: World, at: float, name: str = "q") -> dict[str, float]:
    made.cycle(at)
    made.engine.check()
    found = account(made, name)
    assert sum(one.balance for one in found.children) + sum(found.sinks.values()) == 0
    return {one.member.name: round(one.balance / PART / MICRO, 2) for one in found.children}


# What is earned and paid ------------------------------------------------------------------------


def test_who_uses_more_than_its_part_pays_those_whose_part_it_is() -> None:
    made = world()
    run(made, "a1", 7, at=START)
    run(made, "b1", 2, at=START)
    assert balances(made, START + 100) == {"a": -400, "b": 100, "c": 300}


def test_within_its_part_nobody_pays_and_nobody_earns_by_idling() -> None:
    made = world()
    run(made, "a1", 3, at=START)
    assert balances(made, START + 10**6) == {"a": 0, "b": 0, "c": 0}


def test_what_the_queue_borrows_is_paid_to_nobody_in_it() -> None:
    made = world(
        *objects("a", "b")[:-3],
        cohort("all"),
        queue(cohort="all"),
        queue("other", cohort="all"),
        *(door(team) for team in "ab"),
    )
    run(made, "a1", 12, at=START)
    run(made, "b1", 4, at=START)
    assert balances(made, START + 10) == {"a": -75, "b": 5}
    assert account(made).sinks[Sink.IMPORTED] == 70 * MICRO * PART


def test_parts_go_by_the_weights_of_local_queues() -> None:
    made = world(*objects()[:-3], door("a", weight=2), door("b"))
    run(made, "a1", 8, at=START)
    assert balances(made, START + 10) == {"a": -20, "b": 20}


def test_a_change_of_weight_counts_from_then_on() -> None:
    made = world(*objects("a", "b"))
    run(made, "a1", 9, at=START)
    made.cycle(START + 10)
    made.observe(door("a", weight=2))
    assert balances(made, START + 10) == {"a": -45, "b": 45}
    assert balances(made, START + 20) == {"a": -75, "b": 75}


@pytest.mark.parametrize(
    ("terms", "shared"),
    [
        pytest.param(policy(orders_local_queues=False), True, id="not asked for"),
        pytest.param(policy(mode=Mode.OFF), True, id="mode Off"),
        pytest.param(policy(), False, id="LocalQueues do not take turns"),
    ],
)
def test_a_queue_has_a_ledger_only_where_it_would_have_an_effect(
    terms: CreditPolicyFact, shared: bool
) -> None:
    made = world(
        *objects()[:-4],
        queue(admission_fair_sharing=shared),
        *(door(team) for team in TEAMS),
        terms=terms,
    )
    run(made, "a1", 9, at=START)
    made.cycle(START + 10)
    assert made.engine.credit_accounts() == ()


# Against a sum over seconds -----------------------------------------------------------------------

LENGTHS = st.integers(1, 200)
STAYS = st.lists(
    st.tuples(st.sampled_from(TEAMS), st.integers(0, 300), LENGTHS, st.integers(1, 7)),
    max_size=8,
)


def summed(
    stays: Iterable[tuple[str, int, int, int]],
    weights: Iterable[tuple[int, dict[str, int]]],
    decay: Decay,
    until: int,
) -> dict[str, int]:
    """Add up second by second; times count from START, weights hold from a time on."""
    found = dict.fromkeys(TEAMS, 0)
    for second in range(until):
        parts = [one for since, one in weights if since <= second][-1]
        whole = sum(parts.values())
        own = {team: 9 * MICRO * parts[team] // whole for team in TEAMS}
        used = {
            team: MICRO * sum(n for who, at, s, n in stays if who == team and at <= second < at + s)
            for team in TEAMS
        }
        idle = {team: max(0, own[team] - used[team]) for team in TEAMS}
        over = {team: max(0, used[team] - own[team]) for team in TEAMS}
        lent = min(sum(idle.values()), sum(over.values()))
        rate = PART * lent // sum(idle.values()) if any(idle.values()) else 0
        for team in TEAMS:
            found[team] += idle[team] * rate - PART * over[team]
        if (int(START) + second + 1) % decay.step_s == 0:
            found = {team: shrink(balance, decay.kept) for team, balance in found.items()}
    return found


@hypothesis_settings(max_examples=8, deadline=None)
@given(
    stays=STAYS,
    half_life=st.sampled_from([60, 5000, 400_000]),
    turn=st.integers(1, 400),
    stored=st.integers(1, 500),
)
def test_the_ledger_equals_a_sum_over_seconds_also_after_a_restart(
    stays: list[tuple[str, int, int, int]], half_life: int, turn: int, stored: int
) -> None:
    terms = policy(half_life_s=half_life, debt_limit_s=10**12)
    lender = [cohort("all"), queue(cohort="all"), queue("other", cores=90, cohort="all")]
    doors = [door(team) for team in TEAMS]
    made = world(*objects()[:-4], *lender, *doors, terms=terms)
    steps: list[tuple[int, int, Any]] = [(turn, 0, None), (stored, 1, None)]
    for number, (team, at, lasts, cores) in enumerate(stays):
        steps += [(at, 2, (f"{team}{number}", cores)), (at + lasts, 3, f"{team}{number}")]
    for at, what, whom in sorted(steps, key=lambda one: one[:2]):
        now = START + at
        made.cycle(now)
        if what == 0:
            doors[0] = door("a", weight=3)
            made.observe(doors[0])
            made.cycle(now)
        elif what == 1:
            made = restarted(made, [*objects()[:-4], *lender, *doors], terms)
            made.cycle(now)
        elif what == 2:
            run(made, whom[0], whom[1], at=now)
        else:
            end(made, whom, now)
    made.cycle(START + 600)
    made.engine.check()
    before = dict.fromkeys(TEAMS, 1)
    expected = summed(stays, [(0, before), (turn, before | {"a": 3})], Decay(half_life), 600)
    found = account(made)
    assert {one.member.name: one.balance for one in found.children} == expected
    assert sum(expected.values()) + sum(found.sinks.values()) == 0


# Starting anew ----------------------------------------------------------------------------------


def restarted(made: World, facts: Iterable[Fact], terms: CreditPolicyFact) -> World:
    """A new process that knows what objects say, and the accounts as they are now."""
    anew = World((), settings=Settings())
    for fact in [*facts, *made.workloads.values()]:
        anew.observe(fact)
    for one in made.engine.credit_accounts():
        anew.engine.observe_credit(one)
    anew.engine.observe_credit(terms)
    return anew


def test_a_new_process_counts_an_evicted_workload_up_to_its_release() -> None:
    made = world()
    run(made, "a1", 7, at=START)
    fact = made.workloads[Key("a/a1")]
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=START + 5)
    made.observe(replace(fact, conditions={**fact.conditions, "Evicted": evicted}))
    made.cycle(START + 10)
    assert not made.engine.credits_name(Key("a/a1"))
    for one in made.engine.credit_accounts():
        made.engine.observe_credit(one)
    assert made.engine.credits_name(Key("a/a1"))
    stored = made.engine.credit_accounts()
    made.drain(START + 20)
    anew = world(*objects(), *made.workloads.values(), now=START)
    assert anew.engine.credit_accounts()
    anew = World((), settings=Settings())
    for known in [*objects(), *made.workloads.values()]:
        anew.observe(known)
    for one in stored:
        anew.engine.observe_credit(one)
    anew.engine.observe_credit(policy())
    assert balances(anew, START + 20)["a"] == -4 * 20


def test_an_end_is_covered_once_an_account_that_knows_it_was_stored() -> None:
    made = world()
    run(made, "a1", 7, at=START)
    end(made, "a1", START + 10)
    made.cycle(START + 11)
    assert not made.engine.credits_cover(Key("a/a1"))
    for one in made.engine.credit_accounts():
        made.engine.observe_credit(one)
    assert made.engine.credits_cover(Key("a/a1"))


# What balances do -------------------------------------------------------------------------------


def lent_by_b(**more: Any) -> World:
    """Make a queue that `a` filled for two hours while `b` left its part to it."""
    made = world(*objects("a", "b"), **more)
    run(made, "a0", 9, at=START)
    return made


def test_who_lent_goes_first_until_it_holds_more_than_its_bent_weight_gives() -> None:
    made = lent_by_b()
    later = START + 4 * HOUR
    for number in range(1, 10):
        run(made, f"a{number}", 1, at=later - 100 + number)
    for number in range(1, 10):
        run(made, f"b{number}", 1, at=later - 50 + number)
    end(made, "a0", later)
    made.cycle(later)
    made.engine.check()
    of_b = sum(name.startswith("b") for name in runs(made))
    # Four hours of a debt of a whole part: 1 + held / part may be 2^(4/3) = 2.5 times as much.
    assert (of_b, len(runs(made))) == (8, 9)


def test_a_lender_who_holds_a_little_goes_before_a_debtor_who_holds_nothing() -> None:
    made = world(*objects("a", "b"))
    run(made, "a0", 8, at=START)
    run(made, "b0", 1, at=START)
    later = START + 4 * HOUR
    run(made, "a1", 8, at=later)
    run(made, "b1", 8, at=later + 1)
    end(made, "a0", later + 2)
    made.cycle(later + 2)
    assert runs(made) == {"b0", "b1"}


def test_who_lent_goes_first_also_where_everybody_wants_the_whole_queue() -> None:
    made = lent_by_b()
    run(made, "a1", 9, at=START + HOUR)
    run(made, "b1", 9, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"b1"}


def test_without_balances_it_is_the_order_of_before() -> None:
    made = world(*objects("a", "b"))
    for name in ("a1", "a2", "b1"):
        made.observe(
            workload(f"{name[0]}/{name}", {"cpu": 4000}, local_queue=f"{name[0]}/main", created=1)
        )
    made.cycle(START)
    assert runs(made) == {"a1", "a2"}


@pytest.mark.parametrize("usage_counts", [False, True])
def test_the_balance_stands_before_priority_as_usage_does(usage_counts: bool) -> None:
    history = AdmissionFairSharing(half_life_s=HOUR, sampling_interval_s=300.0)
    settings = Settings(admission_fair_sharing=history if usage_counts else None)
    made = world(*objects("a", "b"), settings=settings)
    run(made, "a0", 8, at=START)
    run(made, "a9", 1, at=START)
    run(made, "a1", 8, at=START + HOUR, priority=100)
    run(made, "b1", 8, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"a9", "b1"}


def test_a_strict_queue_waits_for_the_first_by_balance() -> None:
    strict = queue(strategy=Strategy.STRICT_FIFO)
    made = world(*objects("a", "b")[:-3], strict, door("a"), door("b"))
    run(made, "a0", 8, at=START)
    later = START + HOUR
    run(made, "b1", 4, at=later)
    run(made, "a1", 1, at=later + 1)
    assert runs(made) == {"a0"}, "one core is free, and b1, who lent, waits for four"


def test_victims_are_those_of_who_holds_most_for_its_bent_weight() -> None:
    within = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    made = world(*objects("a", "b")[:-3], queue(preemption=within), door("a"), door("b"))
    run(made, "a0", 8, at=START)
    later = START + HOUR
    end(made, "a0", later)
    made.cycle(later)
    run(made, "a1", 4, at=later + 1)
    run(made, "b1", 4, at=later + 2)
    made.observe(workload("c/c1", {"cpu": 4000}, local_queue="b/main", created=later, priority=10))
    cycle = made.cycle(later + 3)
    victims = [one.workload for one in cycle.decisions if isinstance(one, Preempt)]
    assert victims == ["a/a1"], "the newer b1 would go, were it not for the debt of a"


def test_the_engine_looks_again_when_balances_may_have_moved() -> None:
    made = lent_by_b()
    run(made, "a1", 9, at=START)
    cycle = made.engine.cycle(START + 1)
    assert cycle.wake_at is not None
    assert cycle.wake_at <= START + policy().horizon_s / 256 + 1


# What people may try ----------------------------------------------------------------------------


def test_more_local_queues_in_a_namespace_change_nothing() -> None:
    made = lent_by_b()
    before = balances(made, START + 100)
    for number in range(5):
        made.observe(door("a", name=f"more{number}"))
    run(made, "a1", 1, at=START + 100, local_queue="a/more1")
    assert balances(made, START + 100) == before
    assert balances(made, START + 200) == {name: 2 * value for name, value in before.items()}


def test_debt_is_not_wiped_by_deleting_local_queues_nor_by_running_on_without_one() -> None:
    made = lent_by_b()
    assert balances(made, START + 100)["a"] == -450
    made.observe(Gone(Kind.LOCAL_QUEUE, "a/main"))
    assert balances(made, START + 100)["a"] == -450
    assert balances(made, START + 200)["a"] == -450 - 900, "it is entitled to nothing, and runs on"
    end(made, "a0", START + 200)
    made.cycle(START + 200)
    made.observe(door("a", name="again"))
    assert balances(made, START + 300)["a"] == -1350


def test_debt_survives_a_queue_that_is_deleted_and_made_again() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(Gone(Kind.WORKLOAD, "a/a0"))
    made.observe(Gone(Kind.CLUSTER_QUEUE, "q"))
    made.cycle(START + 110)
    made.observe(queue())
    assert balances(made, START + 120) == {"a": -450, "b": 450}


def test_debt_goes_along_to_another_queue_and_a_surplus_stays() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(queue("r"))
    for team in "ab":
        made.observe(Gone(Kind.LOCAL_QUEUE, f"{team}/main"))
        made.observe(door(team, "r"))
    assert balances(made, START + 101, "r") == {"a": -450, "b": 0}
    assert balances(made, START + 101) == {"a": 0, "b": 450}


def test_a_newcomer_does_not_start_with_what_others_earned() -> None:
    made = lent_by_b()
    made.cycle(START + 100)
    made.observe(door("c"))
    assert balances(made, START + 100) == {"a": -450, "b": 450, "c": 0}


def test_who_comes_and_goes_takes_nothing_from_others() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    for turn in range(5):
        made.observe(door("c"))
        made.cycle(START + 101 + turn)
        made.observe(Gone(Kind.LOCAL_QUEUE, "c/main"))
    assert balances(made, START + 110) == {"a": -450, "b": 450, "c": 0}


def test_a_cut_of_the_queues_quota_shrinks_a_surplus_and_no_debt() -> None:
    made = lent_by_b()
    end(made, "a0", START + 100)
    made.cycle(START + 100)
    made.observe(queue(cores=3))
    assert balances(made, START + 100) == {"a": -450, "b": 150}


def test_flooding_counts_at_once() -> None:
    made = lent_by_b()
    later = START + HOUR
    end(made, "a0", later)
    made.cycle(later)
    for number in range(1, 10):
        for team in "ab":
            fact = workload(
                f"{team}/{team}{number}",
                {"cpu": 1000},
                local_queue=f"{team}/main",
                created=0 if team == "a" else later,
            )
            made.observe(fact)
    made.cycle(later + 1)
    made.engine.check()
    of_a = sum(name.startswith("a") for name in runs(made))
    assert (of_a, len(runs(made))) == (4, 9)


def test_when_the_policy_goes_turns_are_as_before() -> None:
    made = lent_by_b()
    made.cycle(START + HOUR)
    made.engine.observe_credit(policy(orders_local_queues=False))
    run(made, "a1", 9, at=START + HOUR)
    run(made, "b1", 9, at=START + HOUR + 1)
    end(made, "a0", START + 2 * HOUR)
    made.cycle(START + 2 * HOUR)
    assert runs(made) == {"a1"}


def test_the_account_of_a_queue_and_of_a_cohort_of_its_name_are_apart() -> None:
    made = world(*objects("a", "b")[:-3], cohort("q"), queue(cohort="q"), door("a"), door("b"))
    names = [(one.name, one.cohort, one.queue) for one in made.engine.credit_accounts()]
    assert names == [("q", "q", None), ("clusterqueue.q", None, QueueName("q"))]
