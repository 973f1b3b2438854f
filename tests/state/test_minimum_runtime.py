"""Who was promised a minimum runtime is preempted as soon as that is over, without any event."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Mode, Preempt, Wait
from queueing.core.facts import Gone, Kind, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Compatibility, Settings
from queueing.core.stakes import Stake
from queueing.testing import builders
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster

NOW = 1_000.0
POLICY = builders.preemption(within=PreemptionPolicy.LOWER_PRIORITY)


def cluster(settings: Settings | None = None, *, promised_s: float = 600.0) -> ObedientCluster:
    queue = builders.cluster_queue("a", {"default": {"cpu": 4}}, preemption=POLICY)
    held = builders.admitted(
        "held",
        {"cpu": 4},
        queue="a",
        local_queue="team/a",
        created=NOW - 100,
        stake=Stake(minimum_runtime_s=promised_s),
    )
    door = builders.local_queue("team/a", "a")
    facts = (builders.namespace(), builders.flavor(), queue, door, held)
    return ObedientCluster(facts, settings)


def urgent() -> WorkloadFact:
    return builders.workload("urgent", {"cpu": 4}, local_queue="team/a", priority=9, created=NOW)


@pytest.mark.parametrize("after_a_restart", [False, True], ids=["going on", "after a restart"])
def test_a_minimum_runtime_ends_by_itself(after_a_restart: bool) -> None:
    world = cluster()
    world.observe(urgent())
    cycle = world.cycle()
    assert world.preemptions == []
    assert cycle.wake_at == NOW + 500
    wait = world.engine.waiting(Key("team/urgent"))
    assert isinstance(wait, Wait)
    assert wait.mode is Mode.NO_CANDIDATES
    if after_a_restart:
        world.restart()
        assert world.cycle().wake_at == NOW + 500
    world.now = NOW + 499
    world.cycle()
    assert world.preemptions == []
    world.now = NOW + 500
    assert world.cycle().wake_at is None
    assert [one.workload for one in world.preemptions] == ["team/held"]
    check_invariants(world.engine)


def test_a_minimum_runtime_of_tenths_of_a_second_ends_when_the_cycle_is_due() -> None:
    world = cluster(promised_s=600.1)
    world.observe(urgent())
    due = world.cycle().wake_at
    assert due is not None
    world.now = due
    world.cycle()
    assert [one.workload for one in world.preemptions] == ["team/held"]


def test_a_run_that_ended_is_waited_for_no_longer() -> None:
    world = cluster()
    world.observe(urgent())
    world.cycle()
    world.finish(Key("team/held"))
    assert world.cycle().wake_at is None
    assert world.running() == ["team/urgent"]


def test_in_kueue_mode_nothing_is_promised() -> None:
    world = cluster(Settings(compatibility=Compatibility.KUEUE))
    world.observe(urgent())
    world.cycle()
    assert [one.workload for one in world.preemptions] == ["team/held"]


def test_a_victim_that_turns_out_to_be_protected_when_its_admission_is_stored_stays() -> None:
    world = cluster()
    held = world.workloads[Key("team/held")]
    world.observe(Gone(Kind.WORKLOAD, "team/held"))
    world.observe(replace(held, conditions={}, admission=None, stake=None))
    assert [type(one) for one in world.engine.cycle(NOW).decisions] == [Admit]
    world.observe(urgent())
    (chosen,) = [one for one in world.engine.cycle(NOW).decisions if isinstance(one, Preempt)]
    assert world.engine.stands_by(chosen)
    world.observe(held)
    assert not world.engine.stands_by(chosen)
