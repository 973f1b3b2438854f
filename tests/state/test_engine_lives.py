"""What the engine makes of stops, drains and pods that are not ready."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Decision, Outcome, Reason, Verdict, Wait
from queueing.core.facts import ClusterQueueFact, Fact, StopPolicy, WorkloadFact
from queueing.core.settings import Compatibility, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    check,
    check_rule,
    cluster_queue,
    condition,
    local_queue,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world

BLOCKING = Settings(block_admission_until_pods_ready=True)


def engine_with(*facts: Fact, settings: Settings | None = None) -> Engine:
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


def admits(decisions: tuple[Decision, ...]) -> list[str]:
    return [one.workload.partition("/")[2] for one in decisions if isinstance(one, Admit)]


def drained(name: str, reason: str, created: float) -> WorkloadFact:
    return workload(
        name,
        created=created,
        conditions=[
            condition("Evicted", reason=reason),
            condition("Requeued", status=False, reason=reason),
        ],
    )


@pytest.mark.parametrize(
    ("reason", "stopped"),
    [
        pytest.param("ClusterQueueStopped", cluster_queue, id="the ClusterQueue"),
        pytest.param("LocalQueueStopped", local_queue, id="the LocalQueue"),
    ],
)
def test_what_was_drained_first_returns_before_those_that_came_later(
    reason: str, stopped: type
) -> None:
    one = {"default": {"cpu": quota(1_000)}}
    queue = cluster_queue("main", one)
    door = local_queue()
    closed: ClusterQueueFact | Fact = (
        replace(queue, stop_policy=StopPolicy.HOLD_AND_DRAIN)
        if stopped is cluster_queue
        else replace(door, stop_policy=StopPolicy.HOLD_AND_DRAIN)
    )
    engine = engine_with(*world(queue))
    engine.observe(closed)
    engine.observe(workload("newer", created=2.0))
    engine.observe(drained("older", reason, created=1.0))
    assert admits(engine.cycle(10.0).decisions) == []
    engine.observe(queue if stopped is cluster_queue else door)
    assert admits(engine.cycle(11.0).decisions) == ["older"]
    check_invariants(engine)


def two_trees() -> list[Fact]:
    """Two ClusterQueues without a cohort, and one LocalQueue for each."""
    return [
        *world(cluster_queue("main")),
        cluster_queue("other"),
        local_queue("team/other", cluster_queue="other"),
    ]


@pytest.mark.parametrize(
    ("compatibility", "together"),
    [
        pytest.param(Compatibility.QUEUEING, ["reserves", "follows"], id="not before its checks"),
        pytest.param(Compatibility.KUEUE, ["reserves"], id="as Kueue, once it holds quota"),
    ],
)
def test_who_only_reserves_is_waited_for_in_kueue_mode(
    compatibility: Compatibility, together: list[str]
) -> None:
    checked = cluster_queue("main", checks=(check_rule("budget"),), cohort="pool")
    engine = engine_with(
        check("budget"),
        *world(checked),
        cluster_queue("other", cohort="pool"),
        local_queue("team/other", cluster_queue="other"),
        workload("reserves", created=1.0),
        workload("follows", created=2.0, local_queue="team/other"),
        settings=replace(BLOCKING, compatibility=compatibility),
    )
    decided = engine.cycle(10.0).decisions
    assert admits(decided) == together
    for one in decided:
        if isinstance(one, Admit):
            engine.settle(Outcome(decision=one, verdict=Verdict.DONE))
    reserves = admitted("reserves", {"cpu": 1_000}, queue="main")
    ready = {**reserves.conditions, "PodsReady": condition("PodsReady")}
    held = {name: one for name, one in reserves.conditions.items() if name != "Admitted"}
    engine.observe(replace(reserves, conditions=held))
    assert admits(engine.cycle(11.0).decisions) == []
    engine.observe(replace(reserves, conditions=ready))
    assert [*together, *admits(engine.cycle(12.0).decisions)] == ["reserves", "follows"]
    check_invariants(engine)


@pytest.mark.parametrize(
    ("compatibility", "others"),
    [
        pytest.param(Compatibility.QUEUEING, ["elsewhere"], id="only its own tree"),
        pytest.param(Compatibility.KUEUE, [], id="as Kueue, everybody"),
    ],
)
def test_pods_that_are_not_ready_stop_who_waits_for_them_until_they_are(
    compatibility: Compatibility, others: list[str]
) -> None:
    settings = replace(BLOCKING, compatibility=compatibility)
    starting = admitted("starting", {"cpu": 1_000}, queue="main")
    engine = engine_with(*two_trees(), starting, settings=settings)
    engine.observe(workload("same", created=1.0))
    engine.observe(workload("elsewhere", created=2.0, local_queue="team/other"))
    decided = engine.cycle(10.0).decisions
    assert admits(decided) == others
    told = {one.reason for one in decided if isinstance(one, Wait)}
    assert told == {Reason.WAITING_FOR_PODS_READY}
    for one in decided:
        if isinstance(one, Admit):
            engine.settle(Outcome(decision=one, verdict=Verdict.DONE))
    ready = {**starting.conditions, "PodsReady": condition("PodsReady")}
    engine.observe(replace(starting, conditions=ready))
    assert "same" in admits(engine.cycle(11.0).decisions)
    check_invariants(engine)


def test_a_queue_that_is_active_again_exposes_its_workloads() -> None:
    held = cluster_queue(stop_policy=StopPolicy.HOLD)
    engine = engine_with(*world(held), admitted())
    engine.cycle(1.0)
    check_invariants(engine)
    engine.observe(replace(held, stop_policy=StopPolicy.NONE))
    engine.cycle(2.0)
    check_invariants(engine)
