"""Weights from ledgers: what a balance does to shares."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    CreditGrantFact,
)
from queueing.core.decisions import Preempt
from queueing.core.names import Uid
from queueing.core.settings import Compatibility, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cohort,
    workload,
)
from tests.state.credits.ledgers import (
    FAIR,
    START,
    A,
    B,
    account,
    policy,
    submit,
    two_queues,
    world,
)

# What balances do -----------------------------------------------------------------------------


def rich_and_poor(**terms: Any) -> SimulatedCluster:
    """Both queues want the whole pool; `b` has lent for long."""
    made = world(*two_queues(nominal=0, pool=4000), terms=policy(**terms))
    made.engine.observe(
        CreditGrantFact(name="g", uid=Uid("g"), receiver=B, amount=HOUR * MICRO, at=int(START))
    )
    return made


def preempted(made: SimulatedCluster, now: float) -> list[str]:
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
    made.engine.observe(
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
    made.engine.observe(
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
