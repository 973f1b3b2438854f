"""How a plan ends, and what it tells of the rounds on the way there."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Wait
from queueing.core.facts import (
    ClusterQueueFact,
    FlavorFact,
    LocalQueueFact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorPolicy, Fungibility
from queueing.core.names import FlavorName, Key, QueueName
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.sim.plan import LAPS_MAX, Plan, fixed_rounds, until_stable
from queueing.testing.builders import cluster_queue, pod_set, preemption, quota, workload

Part = ClusterQueueFact | FlavorFact | LocalQueueFact | WorkloadFact


def door(name: str) -> LocalQueueFact:
    return LocalQueueFact(key=Key(f"team/{name}"), cluster_queue=QueueName(name))


def flavors(*names: str) -> list[FlavorFact]:
    return [FlavorFact(name=FlavorName(name)) for name in names]


def plan(parts: list[Part], compatibility: Compatibility) -> Plan:
    return until_stable(parts, settings=Settings(compatibility=compatibility), now=100.0)


def in_each_others_way() -> list[Part]:
    """One preempts only in every other round of Kueue's, when it starts at its second flavor."""
    return [
        *flavors("one", "two"),
        cluster_queue(
            "q",
            {"one": {"gpu": quota(6)}, "two": {"gpu": quota(4, lending=0)}},
            cohort="c",
            fungibility=Fungibility(when_can_preempt=FlavorPolicy.MAY_STOP_SEARCH),
            preemption=preemption(reclaim=PreemptionPolicy.ANY),
        ),
        cluster_queue("o", {"one": {"gpu": 0}}, cohort="c"),
        door("q"),
        door("o"),
        workload("v", {"gpu": 2}, local_queue="team/o", created=1.0),
        workload(
            "w",
            local_queue="team/q",
            created=2.0,
            pod_sets=(
                pod_set({"gpu": 2}, name="driver"),
                pod_set({"gpu": 3}, 2, name="workers"),
                pod_set({"gpu": 1}, name="last"),
            ),
        ),
    ]


def test_a_plan_that_goes_round_in_circles_is_left_and_says_so() -> None:
    found = plan(in_each_others_way(), Compatibility.KUEUE)
    assert found.stable is False
    assert len(found.rounds) == 2 * LAPS_MAX - 1


def test_the_same_workloads_come_to_rest_with_our_differences() -> None:
    assert plan(in_each_others_way(), Compatibility.QUEUEING).stable


@pytest.mark.parametrize("compatibility", list(Compatibility))
def test_every_pending_workload_is_told_of_once_in_every_round(
    compatibility: Compatibility,
) -> None:
    parts: list[Part] = [
        *flavors("default"),
        cluster_queue("a", {"default": {"gpu": 4}}),
        door("a"),
    ]
    jobs = [
        workload(f"w{number}", {"gpu": 1 + number % 5}, local_queue="team/a", created=float(number))
        for number in range(9)
    ]
    found = plan([*parts, *jobs], compatibility)
    assert found.stable
    waiting = {job.key for job in jobs}
    for decisions in found.rounds:
        assert sorted(one.workload for one in decisions) == sorted(waiting)
        waiting = {one.workload for one in decisions if isinstance(one, Wait)}


@pytest.mark.parametrize("fair", [None, FairSharing(strategies=("LessThanInitialShare",))])
def test_a_plan_tells_shares_with_and_without_fair_sharing(fair: FairSharing | None) -> None:
    parts: list[Part] = [
        *flavors("default"),
        cluster_queue("a", {"default": {"gpu": 4}}, cohort="c"),
        cluster_queue("b", {"default": {"gpu": 4}}, cohort="c"),
        door("a"),
        workload("w", {"gpu": 5}, local_queue="team/a"),
    ]
    found = fixed_rounds(parts, settings=Settings(fair_sharing=fair), now=100.0, rounds=1)
    assert found.queue_shares == {"a": 125, "b": 0}
    assert found.cohort_shares == {"c": 0}


def test_heads_that_only_step_aside_make_no_round_of_their_own() -> None:
    parts: list[Part] = [
        *flavors("default"),
        cluster_queue("a", {"default": {"gpu": 4}}),
        door("a"),
    ]
    parts += [
        workload(f"w{size}", {"gpu": size}, local_queue="team/a", created=float(-size))
        for size in (9, 8, 7, 6, 5, 4)
    ]
    assert len(plan(parts, Compatibility.QUEUEING).rounds) == 1
    assert len(plan(parts, Compatibility.KUEUE).rounds) == 6


def test_who_asks_the_same_as_one_that_waits_is_told_to_wait_for_the_same() -> None:
    parts: list[Part] = [
        *flavors("default"),
        cluster_queue("a", {"default": {"gpu": 4}}),
        door("a"),
        *(
            workload(name, {"gpu": 5}, local_queue="team/a", created=float(number))
            for number, name in enumerate(("w", "equal"))
        ),
    ]
    decisions = plan(parts, Compatibility.QUEUEING).rounds[-1]
    judged, equal = (one for one in decisions if isinstance(one, Wait))
    assert equal == replace(judged, workload=equal.workload, uid=equal.uid)
