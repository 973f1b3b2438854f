"""What is held against a balance for work that began lately: two queues and a pool of 12 cores."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from queueing.core.credits.facts import (
    MICRO,
    ChildRecord,
    CreditAccountFact,
    CreditGrantFact,
    CreditPolicyFact,
    Member,
)
from queueing.core.facts import Condition, Fact
from queueing.core.names import Key, PodSetName, Uid
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    workload,
)
from tests.state.members import CORE_PRICES

START = 1_000_000.0
HORIZON_S = 300
HOLD_S = 600
CORES = 12
TERMS = CreditPolicyFact(
    name="p",
    prices=CORE_PRICES,
    half_life_s=10**9,
    horizon_s=HORIZON_S,
    admission_hold_s=HOLD_S,
)
SETTINGS = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))


def objects(own: int = 0) -> list[Fact]:
    """Two queues with so many cores of their own; the rest is the cohort's."""
    found: list[Fact] = [
        cohort("all", quotas={"default": {"cpu": (CORES - 2 * own) * 1000}}),
        flavor(),
        namespace(),
    ]
    for name in "ab":
        quotas = {"default": {"cpu": own * 1000}}
        found += [cluster_queue(name, quotas, cohort="all"), local_queue(f"team/{name}", name)]
    return found


def world(*, own: int = 0, **terms: Any) -> SimulatedCluster:
    made = SimulatedCluster(objects(own), settings=SETTINGS)
    made.engine.observe(replace(TERMS, **terms))
    made.cycle(START)
    return made


def submit(made: SimulatedCluster, where: str, count: int, *, now: float, **more: Any) -> None:
    for number in range(count):
        name = f"{where}-{now - START:.0f}-{number}"
        door = f"team/{where}"
        made.observe(workload(name, {"cpu": 1000}, local_queue=door, created=now, **more))
    made.cycle(now)


def end(made: SimulatedCluster, name: str, *, now: float) -> None:
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def child(made: SimulatedCluster, name: str) -> ChildRecord:
    [account] = made.engine.credits.accounts()
    return next(one for one in account.children if one.member.name == name)


def held(made: SimulatedCluster, name: str, at: float) -> int:
    """Return what is held, in seconds of a core."""
    made.cycle(at)
    return child(made, name).held // MICRO


def running(made: SimulatedCluster, queue: str) -> int:
    return sum(
        one.holds_quota and one.admission is not None and one.admission.cluster_queue == queue
        for one in made.workloads.values()
    )


@pytest.mark.parametrize(
    ("hold_s", "for_the_other"),
    [
        pytest.param(0, 2, id="without a hold the surplus counts in full again and again"),
        pytest.param(HOLD_S, 6, id="with a hold what it began with has used it up"),
    ],
)
def test_a_flood_does_not_use_a_surplus_twice(hold_s: int, for_the_other: int) -> None:
    made = world(admission_hold_s=hold_s)
    surplus = 6 * HOLD_S  # doubles the weight twice, and pays six cores for as long as a hold is
    made.engine.observe(
        CreditGrantFact(
            name="gift",
            uid=Uid("gift"),
            receiver=Member("ClusterQueue", "a"),
            amount=surplus * MICRO,
            at=int(START),
        )
    )
    submit(made, "a", 6, now=START + 1)
    for number in range(6):
        late = workload(f"late-{number}", {"cpu": 1000}, local_queue="team/b", created=START + 2)
        made.observe(late)
    submit(made, "a", 6, now=START + 2)
    assert (running(made, "a"), running(made, "b")) == (CORES - for_the_other, for_the_other)


def test_a_hold_shrinks_as_fast_as_the_charge_grows_and_ends_with_it() -> None:
    made = world()
    submit(made, "a", 2, now=START)
    assert [held(made, "a", START + after) for after in (0, 100, 599, 600, 900)] == [
        1200,
        1000,
        2,
        0,
        0,
    ]


def test_who_says_that_it_is_short_is_held_for_no_longer() -> None:
    made = world()
    submit(made, "a", 1, now=START, max_execution_s=60)
    assert held(made, "a", START) == 60
    assert held(made, "a", START + 60) == 0


def test_the_end_of_the_work_releases_what_is_held() -> None:
    made = world()
    submit(made, "a", 2, now=START)
    end(made, "a-0-0", now=START + 10)
    assert held(made, "a", START + 10) == HOLD_S - 10


def test_work_within_the_own_quota_is_not_held_for() -> None:
    made = world(own=4)
    submit(made, "a", 4, now=START)
    assert held(made, "a", START) == 0
    submit(made, "a", 1, now=START + 5)
    assert held(made, "a", START + 5) == HOLD_S


def test_a_class_is_held_for_as_much_as_it_pays() -> None:
    made = world(class_factors=((0, Fraction(1, 2)),))
    submit(made, "a", 2, now=START)
    assert held(made, "a", START) == HOLD_S


def test_a_hold_bends_the_weight_as_soon_as_the_work_counts() -> None:
    made = world()
    submit(made, "a", 6, now=START)
    made.cycle(START)
    assert child(made, "a").exponent < 0
    assert child(made, "a").balance == 0


def test_without_the_field_nothing_is_held() -> None:
    made = world(admission_hold_s=0)
    submit(made, "a", 6, now=START)
    assert held(made, "a", START) == 0
    assert child(made, "a").exponent == 0


@pytest.mark.parametrize("written_at", [0, 70, 130, 200])
def test_a_start_from_what_is_stored_holds_the_same(written_at: int) -> None:
    made, stored = world(own=2), tuple[CreditAccountFact, ...]()
    for at in range(0, 201, 10):
        now = START + at
        if at in {20, 60, 120}:
            submit(made, "a", 3, now=now, max_execution_s=150)
        if at == 90:
            end(made, "a-20-1", now=now)
        if at == 110:  # no status tells when this was: the account must be of later
            key = Key("team/a-60-0")
            fact = made.workloads[key]
            made.observe(replace(fact, reclaimable={PodSetName("main"): 1}))
        made.cycle(now)
        if at in {written_at, 130}:
            stored = made.engine.credits.accounts() if at >= written_at else stored
    again = SimulatedCluster(objects(own=2), settings=SETTINGS)
    for fact in made.workloads.values():
        again.observe(fact)
    again.engine.observe(TERMS)
    for account in stored:
        again.engine.observe(account)
    again.cycle(START + 200)
    assert child(again, "a").held == child(made, "a").held > 0
