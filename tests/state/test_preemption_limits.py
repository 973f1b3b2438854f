"""Storms of preemptions are spread: no more leave at once than a queue or cohort allows."""

import pytest

from queueing.core.decisions import Mode, Reason, Wait
from queueing.core.facts import CohortFact, Fact, PreemptionPolicy
from queueing.core.names import CohortName, Key
from queueing.core.reasons import TOO_MANY_LEAVE
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.testing import builders
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster

POLICY = builders.preemption(
    within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.LOWER_PRIORITY
)
FAIR = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))


def storm(
    victims: int, *, most: int | None, on: str = "cohort", settings: Settings | None = None
) -> ObedientCluster:
    """Return two queues that are full, with as many urgent workloads waiting as victims."""
    facts: list[Fact] = [builders.namespace(), builders.flavor()]
    if on == "cohort":
        facts.append(CohortFact(name=CohortName("all"), preemptions_max=most))
    for name in "ab":
        limit = most if on == name else None
        quotas = {"default": {"cpu": victims}}
        facts.append(
            builders.cluster_queue(
                name, quotas, cohort="all", preemption=POLICY, preemptions_max=limit
            )
        )
        facts.append(builders.local_queue(f"team/{name}", name))
        facts += [
            builders.admitted(
                f"{name}{number}", {"cpu": 1}, queue=name, local_queue=f"team/{name}", created=1.0
            )
            for number in range(victims)
        ]
    world = ObedientCluster(facts, settings)
    for name in "ab":
        for number in range(victims):
            world.observe(
                builders.workload(
                    f"urgent-{name}{number}",
                    {"cpu": 1},
                    local_queue=f"team/{name}",
                    priority=9,
                    created=10.0 + number,
                )
            )
    return world


def urgent(world: ObedientCluster) -> int:
    return sum(1 for key in world.running() if "urgent" in key)


@pytest.mark.parametrize("settings", [None, FAIR], ids=["classical", "fair sharing"])
def test_a_storm_is_spread_and_ends(settings: Settings | None) -> None:
    world, most = storm(20, most=3, settings=settings), 0
    for _ in range(100):
        world.cycle()
        leaving = world.draining()
        most = max(most, len(leaving))
        check_invariants(world.engine)
        if not leaving:
            break
        world.drain(leaving[0])
    assert most == 3
    assert urgent(world) == 40
    assert len(world.preemptions) == 40


def test_a_thousand_victims_leave_in_turn() -> None:
    world = storm(500, most=10)
    world.cycle()
    assert len(world.draining()) == 10
    for key in world.draining():
        world.drain(key)
    world.cycle()
    assert (len(world.draining()), urgent(world)) == (10, 10)


def test_a_limit_of_one_queue_leaves_the_other_alone() -> None:
    world = storm(4, most=1, on="a")
    world.cycle()
    leaving = world.draining()
    assert sum(1 for key in leaving if key.startswith("team/a")) == 1
    assert sum(1 for key in leaving if key.startswith("team/b")) == 4


def test_who_is_one_too_many_says_so() -> None:
    world = storm(2, most=1, on="a")
    world.cycle()
    wait = world.engine.waiting(Key("team/urgent-a1"))
    assert isinstance(wait, Wait)
    assert (wait.mode, wait.reason) == (Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED)
    assert wait.message == TOO_MANY_LEAVE
    assert wait.targets == ()


def test_one_preemption_is_never_divided() -> None:
    world = storm(4, most=2, on="a")
    for number in range(4):
        world.finish(Key(f"team/urgent-a{number}"))
        world.finish(Key(f"team/urgent-b{number}"))
    world.observe(
        builders.workload("gang", {"cpu": 4}, local_queue="team/a", priority=9, created=50.0)
    )
    world.cycle()
    assert len(world.draining()) == 4
    world.rest()
    assert "team/gang" in world.running()


def test_a_victim_that_is_spared_makes_room_for_the_next() -> None:
    world = storm(2, most=1, on="a")
    world.cycle()
    (leaving,) = [key for key in world.draining() if key.startswith("team/a")]
    fact = world.workloads[leaving]
    evicted = builders.condition("Evicted", "Spared", status=False)
    preempted = builders.condition("Preempted", "Spared", status=False)
    conditions = {**fact.conditions, "Evicted": evicted, "Preempted": preempted}
    world.observe(
        builders.admitted(
            fact.key,
            {"cpu": 1},
            queue="a",
            local_queue="team/a",
            created=1.0,
            conditions=tuple(conditions.values()),
        )
    )
    world.cycle()
    assert [key for key in world.draining() if key.startswith("team/a")] != []


def test_a_restart_knows_how_many_are_leaving() -> None:
    world = storm(6, most=2)
    world.cycle()
    before = world.draining()
    world.restart()
    world.cycle()
    assert world.draining() == before


def test_in_kueue_mode_nothing_is_limited() -> None:
    world = storm(1, most=1, settings=Settings(compatibility=Compatibility.KUEUE))
    world.cycle()
    assert len(world.draining()) == 2
