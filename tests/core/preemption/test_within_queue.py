"""Preemption inside one queue, and what is common to all preemption."""

import pytest

from queueing.core.decisions import Mode, PreemptionReason, Reason, Requeue, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import ClusterQueueFact, PreemptionPolicy, WorkloadFact
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    preemption,
    workload,
)

LOWER = PreemptionPolicy.LOWER_PRIORITY
OR_NEWER = PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY
EVICTED = condition("Evicted", "Preempted")


def queue(cpu: int = 10, within: PreemptionPolicy = LOWER) -> ClusterQueueFact:
    return cluster_queue("a", {"default": {"cpu": cpu}}, preemption=preemption(within=within))


def running(
    name: str, cpu: int, priority: int = 0, created: float = 0.0, *, evicted: bool = False
) -> WorkloadFact:
    return admitted(
        name,
        {"cpu": cpu},
        queue="a",
        local_queue=f"team/{name}",
        priority=priority,
        created=created,
        conditions=(EVICTED,) if evicted else (),
    )


def job(cpu: int, priority: int = 9, created: float = 100.0) -> WorkloadFact:
    return workload("new", {"cpu": cpu}, local_queue="team/a", priority=priority, created=created)


def victims(judgement: Ruling) -> list[str]:
    return [str(one.workload).removeprefix("team/") for one in judgement.preemptions]


@pytest.mark.parametrize(
    ("within", "priority", "created", "want"),
    [
        pytest.param(LOWER, 1, 0, ["low"], id="a lower priority goes"),
        pytest.param(LOWER, 0, 0, [], id="an equal one stays"),
        pytest.param(OR_NEWER, 0, 4, ["low"], id="unless it is newer and the policy says so"),
        pytest.param(OR_NEWER, 0, 5, [], id="equally old is not newer"),
        pytest.param(PreemptionPolicy.NEVER, 9, 0, [], id="never means never"),
    ],
)
def test_policies(within: PreemptionPolicy, priority: int, created: float, want: list[str]) -> None:
    arena = Arena(queue(within=within), running("low", 8, created=5))
    [judgement] = arena.round(job(5, priority, created))
    assert victims(judgement) == want


def test_a_preemptor_waits_for_its_victims() -> None:
    arena = Arena(queue(), running("low", 8))
    [judgement] = arena.round(job(5))
    wait = judgement.decision
    assert isinstance(wait, Wait)
    assert (wait.mode, wait.reason, wait.requeue) == (
        Mode.PREEMPT,
        Reason.WAITING_FOR_PREEMPTED,
        Requeue.IMMEDIATE,
    )
    assert wait.message == (
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
        "default, 3m more needed. Pending the preemption of 1 workload(s)"
    )
    [preempt] = judgement.preemptions
    assert preempt.reason is PreemptionReason.IN_CLUSTER_QUEUE
    assert (preempt.preemptor_path, preempt.victim_path) == ("/a", "/a")
    assert wait.targets == (preempt.workload,)


@pytest.mark.parametrize(
    ("held", "asked", "want"),
    [
        pytest.param(
            [running("mid", 3, 2), running("low", 3, 1), running("high", 3, 3)],
            4,
            ["low"],
            id="the lowest priority first",
        ),
        pytest.param(
            [running("old", 5, 1, 1), running("new", 5, 1, 2)],
            5,
            ["new"],
            id="among equals the one that started last",
        ),
        pytest.param(
            [running("low", 5, 0, 2), running("going", 5, 3, 1, evicted=True)],
            5,
            ["going"],
            id="one that is evicted already before all",
        ),
        pytest.param(
            [running("small", 1, 0), running("large", 8, 1)],
            6,
            ["large"],
            id="a victim that turns out not to be needed is spared",
        ),
        pytest.param(
            [running("one", 5, 0, 1), running("two", 5, 0, 2)],
            10,
            ["two", "one"],
            id="as many as needed",
        ),
        pytest.param(
            [running("low", 4), running("high", 6, 99)],
            5,
            [],
            id="none when even all are not enough",
        ),
    ],
)
def test_who_is_chosen(held: list[WorkloadFact], asked: int, want: list[str]) -> None:
    [judgement] = Arena(queue(), *held).round(job(asked))
    assert victims(judgement) == want


def test_a_victim_that_is_going_already_is_marked_so() -> None:
    [judgement] = Arena(queue(), running("going", 8, evicted=True)).round(job(5))
    assert [one.already_evicted for one in judgement.preemptions] == [True]


def test_users_of_other_flavors_are_left_alone() -> None:
    arena = Arena(
        cluster_queue(
            "a",
            {"default": {"cpu": 5}, "other": {"cpu": 1}},
            preemption=preemption(within=LOWER),
        ),
        running("low", 5, priority=1),
        admitted("bystander", {"cpu": 1}, queue="a", flavor="other"),
    )
    [judgement] = arena.round(job(5))
    assert victims(judgement) == ["low"]


def test_a_closed_gate_holds_preemption_back() -> None:
    arena = Arena(queue(), running("low", 8))
    head = workload("new", {"cpu": 5}, local_queue="team/a", priority=9, preemption_gated=True)
    [judgement] = arena.round(head)
    assert isinstance(judgement.decision, Wait)
    assert judgement.preemptions == ()
    assert judgement.decision.message == "Workload requires preemption, but it's gated"


def test_the_local_queue_that_used_most_gives_first() -> None:
    facts = ClusterQueueFact(
        name=queue().name,
        groups=queue().groups,
        namespace_selector=queue().namespace_selector,
        preemption=queue().preemption,
        admission_fair_sharing=True,
    )
    settings = Settings(admission_fair_sharing=AdmissionFairSharing(half_life_s=60))
    arena = Arena(facts, running("modest", 5, 0), running("greedy", 5, 3), settings=settings)
    arena.local_usages = {running("greedy", 1).key: 7.0, running("modest", 1).key: 1.0}
    assert victims(arena.round(job(5))[0]) == ["greedy"]


def test_partial_admission_prefers_more_pods_by_preemption() -> None:
    arena = Arena(queue(), running("low", 4), running("high", 2, 99))
    asked = workload("new", {"cpu": 1}, 10, local_queue="team/a", priority=9)
    shrinking = workload(
        "new",
        local_queue="team/a",
        priority=9,
        pod_sets=tuple(
            type(one)(name=one.name, count=10, requests=one.requests, min_count=2)
            for one in asked.pod_sets
        ),
    )
    [judgement] = arena.round(shrinking)
    assert isinstance(judgement.decision, Wait)
    assert (judgement.decision.nominated[0].count, victims(judgement)) == (8, ["low"])
