"""Namespaces that share a queue: who pays whom for more than its part."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditMode,
    CreditPolicyFact,
    Sink,
)
from queueing.core.facts import Condition, Fact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cohort,
)
from queueing.testing.invariants import check_invariants
from tests.state.credits.shared_queue import (
    START,
    TEAMS,
    account,
    balances,
    door,
    end,
    objects,
    policy,
    queue,
    run,
    world,
)

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
        pytest.param(policy(mode=CreditMode.OFF), True, id="mode Off"),
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
    assert made.engine.credits.accounts() == ()


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
    check_invariants(made.engine)
    before = dict.fromkeys(TEAMS, 1)
    expected = summed(stays, [(0, before), (turn, before | {"a": 3})], Decay(half_life), 600)
    found = account(made)
    assert {one.member.name: one.balance for one in found.children} == expected
    assert sum(expected.values()) + sum(found.sinks.values()) == 0


# Starting anew ----------------------------------------------------------------------------------


def restarted(
    made: SimulatedCluster, facts: Iterable[Fact], terms: CreditPolicyFact
) -> SimulatedCluster:
    """A new process that knows what objects say, and the accounts as they are now."""
    anew = SimulatedCluster((), settings=Settings())
    for fact in [*facts, *made.workloads.values()]:
        anew.observe(fact)
    for one in made.engine.credits.accounts():
        anew.engine.observe(one)
    anew.engine.observe(terms)
    return anew


def test_a_new_process_counts_an_evicted_workload_up_to_its_release() -> None:
    made = world()
    run(made, "a1", 7, at=START)
    fact = made.workloads[Key("a/a1")]
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=START + 5)
    made.observe(replace(fact, conditions={**fact.conditions, "Evicted": evicted}))
    made.cycle(START + 10)
    assert not made.engine.credits.names(Key("a/a1"))
    for one in made.engine.credits.accounts():
        made.engine.observe(one)
    assert made.engine.credits.names(Key("a/a1"))
    stored = made.engine.credits.accounts()
    made.drain(START + 20)
    anew = world(*objects(), *made.workloads.values(), now=START)
    assert anew.engine.credits.accounts()
    anew = SimulatedCluster((), settings=Settings())
    for known in [*objects(), *made.workloads.values()]:
        anew.observe(known)
    for one in stored:
        anew.engine.observe(one)
    anew.engine.observe(policy())
    assert balances(anew, START + 20)["a"] == -4 * 20


def test_an_end_is_covered_once_an_account_that_knows_it_was_stored() -> None:
    made = world()
    run(made, "a1", 7, at=START)
    end(made, "a1", START + 10)
    made.cycle(START + 11)
    assert not made.engine.credits.covers(Key("a/a1"))
    for one in made.engine.credits.accounts():
        made.engine.observe(one)
    assert made.engine.credits.covers(Key("a/a1"))
