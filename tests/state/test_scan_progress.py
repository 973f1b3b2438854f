"""How far a search over flavors came, when the Workload or quotas change before its next try."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Cycle, Mode, Preempt, Requeue, Wait
from queueing.core.facts import ClusterQueueFact, Preemption, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, ResourceName, Uid
from queueing.core.settings import Compatibility, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    condition,
    flavor,
    local_queue,
    pod_set,
    quota,
    workload,
)
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

BY_AGE = Settings(compatibility=Compatibility.KUEUE, priority_sorting_within_cohort=False)
FORGETFUL = replace(BY_AGE, preserve_scan_progress=False)
LATE = workload("team/late", {"cpu": 2, "memory": 2}, local_queue="team/a", created=2.0, priority=5)


def queue_of(cores: int) -> ClusterQueueFact:
    """Return the queue, with so much cpu in each flavor."""
    cpu = {"one": {"cpu": cores}, "two": {"cpu": cores}}
    return cluster_queue("a", [cpu, {"memory": {"memory": 2}}])


def engine_after_a_try(settings: Settings) -> Engine:
    """Let `late` be nominated for flavor one, while memory is short; two is left to try."""
    engine = Engine(settings)
    for fact in (
        flavor("one"),
        flavor("two"),
        flavor("memory"),
        queue_of(2),
        local_queue("team/a", "a"),
        workload("team/early", {"memory": 1}, local_queue="team/a", created=1.0, priority=6),
    ):
        engine.observe(fact)
    assert isinstance(engine.round(9.0).decisions[0], Admit)
    engine.observe(LATE)
    assert nominated(engine, 10.0) == "one"
    return engine


def nominated(engine: Engine, now: float) -> str:
    """Return the flavor for cpu that `late`, which waits for memory, is nominated for."""
    (late,) = engine.round(now).decisions
    assert isinstance(late, Wait)
    assert late.workload == "team/late"
    return late.nominated[0].flavors[ResourceName("cpu")]


def told(fact: WorkloadFact) -> WorkloadFact:
    """Change what no judgement depends on: the condition that says that it waits."""
    return replace(fact, conditions={"Note": condition("Note", changed=10.0)})


def sent_back(fact: WorkloadFact) -> WorkloadFact:
    """Change what may send it to another place in its queue, and asks the same all the same."""
    return replace(fact, conditions={"Requeued": condition("Requeued", changed=10.0)})


def wanting_more(fact: WorkloadFact) -> WorkloadFact:
    """Change what is asked."""
    return replace(fact, priority=4)


@pytest.mark.parametrize(
    ("settings", "change", "goes_on"),
    [
        pytest.param(BY_AGE, told, True, id="its status says more"),
        pytest.param(BY_AGE, sent_back, True, id="it is queued anew"),
        pytest.param(BY_AGE, wanting_more, False, id="its priority is another"),
        pytest.param(FORGETFUL, told, False, id="its status says more, without the gate"),
        pytest.param(FORGETFUL, sent_back, False, id="it is queued anew, without the gate"),
        pytest.param(FORGETFUL, lambda fact: fact, True, id="no change, without the gate"),
    ],
)
def test_a_changed_workload_goes_on_with_the_next_flavor_only_if_it_asks_the_same(
    settings: Settings, change: Callable[[WorkloadFact], WorkloadFact], goes_on: bool
) -> None:
    engine = engine_after_a_try(settings)
    engine.observe(change(LATE))
    assert nominated(engine, 11.0) == ("two" if goes_on else "one")


@pytest.mark.parametrize(
    ("settings", "goes_on"),
    [
        pytest.param(BY_AGE, True, id="preserved"),
        pytest.param(FORGETFUL, False, id="not preserved"),
    ],
)
def test_the_round_after_goes_on_though_quotas_have_changed(
    settings: Settings, *, goes_on: bool
) -> None:
    engine = engine_after_a_try(settings)
    engine.observe(queue_of(3))
    assert nominated(engine, 11.0) == ("two" if goes_on else "one")


@pytest.mark.parametrize(
    ("cores", "goes_on"),
    [
        pytest.param(2, True, id="no quota changed"),
        pytest.param(3, False, id="a quota changed"),
    ],
)
def test_two_rounds_later_it_goes_on_only_while_no_quota_has_changed(
    cores: int, *, goes_on: bool
) -> None:
    engine = engine_after_a_try(BY_AGE)
    engine.observe(queue_of(cores))
    urgent = workload("team/urgent", {"memory": 1}, local_queue="team/a", created=3.0, priority=9)
    engine.observe(urgent)
    assert isinstance(engine.round(11.0).decisions[0], Admit)
    assert nominated(engine, 12.0) == ("two" if goes_on else "one")


def test_a_head_that_is_requeued_at_once_without_fungibility_does_not_keep_a_cycle_going() -> None:
    engine = Engine(replace(BY_AGE, flavor_fungibility=False))
    lower = Preemption(within_cluster_queue=PreemptionPolicy.LOWER_PRIORITY)
    for fact in (
        flavor("one"),
        cluster_queue("a", {"one": {"cpu": 4}}, preemption=lower),
        local_queue("team/a", "a"),
        workload("team/busy", {"cpu": 2}, local_queue="team/a", created=1.0, priority=9),
    ):
        engine.observe(fact)
    engine.cycle(9.0)
    engine.observe(workload("team/large", {"cpu": 3}, local_queue="team/a", created=2.0))
    engine.observe(workload("team/small", {"cpu": 1}, local_queue="team/a", created=3.0))
    cycle = engine.cycle(10.0)
    (large,) = cycle.decisions
    assert isinstance(large, Wait)
    assert (large.workload, large.requeue) == ("team/large", Requeue.IMMEDIATE)
    assert (cycle.finished, engine.cycle(11.0).decisions) == (True, ())


def test_two_heads_in_flight_do_not_restart_the_search_of_each_other_for_ever() -> None:
    """Each finds no flavor in its first round, and victims in its second, out of step."""
    lower = Preemption(within_cluster_queue=PreemptionPolicy.LOWER_PRIORITY)
    lent = {"one": {"cpu": quota(4, lending=0)}, "two": {"cpu": quota(2, lending=0)}}
    names = ("left", "right")
    queues = [cluster_queue(one, lent, cohort="all", preemption=lower) for one in names]
    engine = Engine(Settings(compatibility=Compatibility.KUEUE))
    for fact in world(cohort("all"), cluster_queues=queues):
        engine.observe(fact)
    for name in names:
        engine.observe(workload(f"team/{name}-low", {"cpu": 3}, local_queue=f"team/{name}"))
    engine.cycle(9.0)
    pair = (pod_set({"cpu": 1}), pod_set({"cpu": 4}, name="second"))
    left = workload("team/left", pod_sets=pair, local_queue="team/left", priority=1)
    engine.observe(left)
    assert modes(engine.cycle(10.0)) == [Mode.NO_FIT, "team/left-low", Mode.PREEMPT]
    right = Key("team/right")
    engine.observe(replace(left, key=right, uid=Uid("2"), local_queue=right))
    assert modes(engine.cycle(11.0, budget=1)) == [Mode.NO_FIT]
    engine.observe(workload("team/urgent", {"cpu": 9}, local_queue="team/right", priority=2))
    calls = iter(range(100))
    cycle = engine.cycle(12.0, pause=lambda: next(calls) == 99)
    assert modes(cycle) == [Mode.NO_FIT, "team/right-low", Mode.PREEMPT]
    assert cycle.finished


def modes(cycle: Cycle) -> list[str | None]:
    """Return how far each judgement came, and whom it preempted."""
    return [one.workload if isinstance(one, Preempt) else one.mode for one in cycle.decisions]


def test_pod_sets_that_never_tried_the_flavors_in_step_begin_anew_after_a_release() -> None:
    mine = cluster_queue("mine", {"spot": {"cpu": 4}, "default": {"cpu": 2}}, cohort="all")
    spot = cluster_queue("spot", {"spot": {"cpu": 0}}, cohort="all")
    default = cluster_queue("default", {"default": {"cpu": 0}}, cohort="all")
    cluster = ObedientCluster(world(cohort("all"), cluster_queues=[mine, spot, default]))
    for name, amount in (("spot", 1), ("default", 2)):
        cluster.observe(workload(name, {"cpu": amount}, local_queue=f"team/{name}"))
        cluster.cycle()
    double = (pod_set({"cpu": 1}), pod_set({"cpu": 3}, name="second"))
    cluster.observe(workload("double", pod_sets=double, local_queue="team/mine"))
    cycle = cluster.cycle()
    assert cluster.running() == ["team/default", "team/spot"]
    assert cycle.judged < 10
    cluster.finish(Key("team/spot"))
    cluster.cycle()
    assert cluster.running() == ["team/default", "team/double"]
