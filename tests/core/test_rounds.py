"""A round: who is admitted, who waits, in which order, and what the tree holds afterwards."""

import pytest

from queueing.core.decisions import Admit, Mode, Reason, Requeue, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import (
    CheckPhase,
    ClusterQueueFact,
    PreemptionPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.names import FlavorName, FlavorResource, Key, QueueName, ResourceName
from queueing.core.reasons import Shortage
from queueing.core.settings import Compatibility, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import (
    admitted,
    check_rule,
    check_state,
    cluster_queue,
    cohort,
    preemption,
    quota,
    workload,
)

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
KUEUE = Settings(compatibility=Compatibility.KUEUE)


def job(
    name: str, queue: str, cpu: int, *, priority: int = 0, created: float = 0.0
) -> WorkloadFact:
    return workload(
        name, {"cpu": cpu}, local_queue=f"team/{queue}", priority=priority, created=created
    )


def running(
    name: str, queue: str, cpu: int, *, priority: int = 0, created: float = 0.0
) -> WorkloadFact:
    return admitted(
        name,
        {"cpu": cpu},
        queue=queue,
        local_queue=f"team/{queue}",
        priority=priority,
        created=created,
    )


def queue(name: str, cpu: int, parent: str | None = None, **limits: int) -> ClusterQueueFact:
    return cluster_queue(name, {"default": {"cpu": quota(cpu, **limits)}}, cohort=parent)


def names(judgements: list[Ruling], kind: type) -> list[str]:
    return [
        str(one.head.workload.key).removeprefix("team/")
        for one in judgements
        if isinstance(one.decision, kind)
    ]


def wait_of(judgement: Ruling) -> Wait:
    assert isinstance(judgement.decision, Wait)
    return judgement.decision


def test_a_head_that_fits_is_admitted_and_charged() -> None:
    arena = Arena(queue("a", 10))
    [judgement] = arena.round(job("one", "a", 4))
    assert isinstance(judgement.decision, Admit)
    [pod_set] = judgement.decision.pod_sets
    assert (pod_set.flavors, pod_set.usage) == ({"cpu": "default"}, {"cpu": 4})
    assert judgement.decision.note == "", "nothing was passed over"
    assert arena.tree.queue(QueueName("a")).cell(CPU).usage == 4


def test_a_head_that_does_not_fit_says_how_much_is_missing() -> None:
    arena = Arena(queue("a", 10_000), running("busy", "a", 8_000))
    [judgement] = arena.round(job("one", "a", 4_000))
    wait = wait_of(judgement)
    assert wait.message == (
        "couldn't assign flavors to pod set main: "
        "insufficient unused quota for cpu in flavor default, 2 more needed"
    )
    assert (wait.reason, wait.mode) == (Reason.WAITING_FOR_QUOTA, Mode.NO_CANDIDATES)
    [(pod_set, [short])] = judgement.entry.assignment.troubles
    assert (pod_set, short) == ("main", Shortage(CPU, 4_000, 2_000))


def test_a_head_larger_than_all_there_is_says_so() -> None:
    arena = Arena(queue("a", 10_000))
    wait = wait_of(arena.round(job("one", "a", 10_500))[0])
    assert wait.message == (
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor default, "
        "previously considered podsets requests (0) + current podset request (10500m) "
        "> maximum capacity (10)"
    )
    assert (wait.reason, wait.mode) == (Reason.EXCEEDS_MAX_QUOTA, Mode.NO_FIT)


@pytest.mark.parametrize(
    ("strategy", "want"),
    [
        pytest.param(Strategy.BEST_EFFORT_FIFO, Requeue.INADMISSIBLE, id="best effort sets aside"),
        pytest.param(Strategy.STRICT_FIFO, Requeue.IMMEDIATE, id="strict keeps its head"),
    ],
)
def test_where_a_head_that_does_not_fit_goes(strategy: Strategy, want: Requeue) -> None:
    arena = Arena(cluster_queue("a", {"default": {"cpu": 1}}, strategy=strategy))
    assert wait_of(arena.round(job("one", "a", 2))[0]).requeue is want


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            job("home", "a", 4), job("borrower", "b", 9), id="who borrows less comes first"
        ),
        pytest.param(
            job("high", "b", 9, priority=5, created=2),
            job("low", "a", 9, created=1),
            id="among equals the higher priority comes first",
        ),
        pytest.param(
            job("early", "b", 9, created=1),
            job("late", "a", 9, created=2),
            id="then the one that queues longer",
        ),
    ],
)
def test_the_order_of_entries(first: WorkloadFact, second: WorkloadFact) -> None:
    arena = Arena(queue("a", 6, "c"), queue("b", 6, "c"), settings=KUEUE)
    judgements = arena.round(second, first)
    assert [one.head.workload.key for one in judgements] == [first.key, second.key]
    assert isinstance(judgements[0].decision, Admit)
    assert (
        wait_of(judgements[1]).message
        == "Workload no longer fits after processing another workload"
    )
    assert wait_of(judgements[1]).requeue is Requeue.IMMEDIATE
    ours = Arena(queue("a", 6, "c"), queue("b", 6, "c")).round(second, first)
    assert names(ours, Admit) == names([judgements[0]], Admit)
    assert len(ours) == 1, "who would borrow waits for the next round and gets no ruling"


def test_priority_does_not_order_entries_when_that_is_switched_off() -> None:
    arena = Arena(
        queue("a", 6, "c"),
        queue("b", 6, "c"),
        settings=Settings(priority_sorting_within_cohort=False),
    )
    judgements = arena.round(
        job("high", "b", 9, priority=5, created=2), job("low", "a", 9, created=1)
    )
    assert names(judgements, Admit) == ["low"]


def test_heads_of_one_cohort_share_what_is_there() -> None:
    arena = Arena(queue("a", 5, "c"), queue("b", 5, "c"), queue("d", 5, "c"))
    judgements = arena.round(job("one", "a", 7), job("two", "b", 8), job("three", "d", 1))
    assert names(judgements, Admit) == ["three", "one"]
    root = arena.tree.queue(QueueName("a")).root
    assert root.cell(CPU).usage == 8


@pytest.mark.parametrize("compatibility", Compatibility)
def test_an_owner_without_candidates_keeps_its_nominal_quota_from_borrowers(
    compatibility: Compatibility,
) -> None:
    arena = Arena(
        queue("a", 10, "c"),
        queue("b", 0, "c"),
        running("guest", "b", 5, priority=9),
        settings=Settings(compatibility=compatibility),
    )
    judgements = arena.round(job("big", "a", 8), job("thief", "b", 5, priority=9))
    assert names(judgements, Admit) == []
    assert arena.tree.queue(QueueName("a")).cell(CPU).usage == 0


def test_a_head_that_can_always_reclaim_keeps_nothing_from_others() -> None:
    arena = Arena(
        cluster_queue(
            "a",
            {"default": {"cpu": 10}},
            cohort="c",
            preemption=preemption(reclaim=PreemptionPolicy.ANY),
        ),
        queue("b", 0, "c"),
        running("mine", "a", 4, priority=9),
    )
    judgements = arena.round(job("big", "a", 8, priority=9), job("thief", "b", 5))
    assert names(judgements, Admit) == ["thief"]


def test_checks_that_apply_and_are_not_ready_only_reserve() -> None:
    arena = Arena(
        cluster_queue(
            "a",
            {"default": {"cpu": 10}},
            checks=(check_rule("all"), check_rule("other", "gpu"), check_rule("done")),
        )
    )
    head = workload(
        "one", {"cpu": 1}, local_queue="team/a", checks=(check_state("done", CheckPhase.READY),)
    )
    [judgement] = arena.round(head)
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.checks == ("all",)


@pytest.mark.parametrize(
    ("compatibility", "cohorts", "want"),
    [
        pytest.param(Compatibility.KUEUE, ("x", "y"), ["one"], id="as Kueue: anybody's pods"),
        pytest.param(Compatibility.QUEUEING, ("x", "x"), ["one"], id="pods of the same tree"),
        pytest.param(Compatibility.QUEUEING, ("x", "y"), ["one", "two"], id="not those of others"),
    ],
)
def test_admission_waits_for_pods_to_be_ready(
    compatibility: Compatibility, cohorts: tuple[str, str], want: list[str]
) -> None:
    settings = Settings(block_admission_until_pods_ready=True, compatibility=compatibility)
    queues = [queue(name, 5, parent) for name, parent in zip("ab", cohorts, strict=True)]
    arena = Arena(*queues, settings=settings)
    judgements = arena.round(job("one", "a", 1, created=1), job("two", "b", 1, created=2))
    assert names(judgements, Admit) == want
    waits = [one.decision for one in judgements if isinstance(one.decision, Wait)]
    assert {one.reason for one in waits} <= {Reason.WAITING_FOR_PODS_READY}
    assert names(arena.round(job("late", "b", 1), pods_ready=False), Admit) == []


def test_a_skipped_head_comes_back_at_once_and_tries_all_flavors_anew() -> None:
    arena = Arena(
        cluster_queue("a", {"one": {"cpu": quota(2)}, "two": {"cpu": quota(2)}}, cohort="c"),
        cluster_queue("b", {"one": {"cpu": quota(2)}, "two": {"cpu": quota(2)}}, cohort="c"),
        settings=KUEUE,
    )
    judgements = arena.round(job("first", "a", 3, created=1), job("second", "b", 3, created=2))
    assert names(judgements, Admit) == ["first"]
    again = judgements[1]
    assert wait_of(again).mode is Mode.SKIPPED
    assert wait_of(again).requeue is Requeue.IMMEDIATE
    assert again.progress is None
    [judgement] = arena.judge([arena.head(again.head.workload)])
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].flavors == {"cpu": "two"}
    assert judgement.decision.borrowing


SHORT_OF_MEMORY = workload("late", {"cpu": 2, "memory": 2}, local_queue="team/a")
"""Flavor one serves its cpu; two is left to try while memory is short."""


def short_of_memory() -> Arena:
    machines = {"one": {"cpu": 2}, "two": {"cpu": 2}}
    facts = cluster_queue("a", [machines, {"memory": {"memory": 2}}], cohort="c")
    early = admitted("early", {"memory": 1}, queue="a", local_queue="team/a", flavor="memory")
    return Arena(facts, early)


def test_flavors_left_to_try_bring_a_head_back_at_once() -> None:
    arena = short_of_memory()
    [judgement] = arena.round(SHORT_OF_MEMORY)
    assert wait_of(judgement).requeue is Requeue.IMMEDIATE
    arena.release(Key("team/early"))
    [judgement] = arena.judge([arena.head(SHORT_OF_MEMORY, judgement.progress)])
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].flavors[ResourceName("cpu")] == "two"


def test_progress_is_forgotten_when_quota_changes() -> None:
    arena = short_of_memory()
    [judgement] = arena.round(SHORT_OF_MEMORY)
    arena.release(Key("team/early"))
    arena.tree.put_cohort(cohort("c", quotas={"two": {"cpu": 5}}))
    [judgement] = arena.judge([arena.head(SHORT_OF_MEMORY, judgement.progress)])
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].flavors[ResourceName("cpu")] == "one"


def test_nobody_is_admitted_into_room_that_victims_still_hold() -> None:
    policies = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    facts = (
        cluster_queue("a", {"default": {"cpu": 10}}, cohort="c", preemption=policies),
        queue("b", 0, "c"),
        queue("d", 0, "c"),
        running("victim", "a", 6),
    )
    heads = (
        job("preemptor", "a", 5, priority=9),
        job("one", "b", 2, created=1),
        job("two", "d", 3, created=2),
    )
    ours = Arena(*facts).round(*heads)
    assert names(ours, Admit) == ["one"]
    assert wait_of(ours[2]).mode is Mode.DEFERRED_FIT
    theirs = Arena(*facts, settings=Settings(compatibility=Compatibility.KUEUE)).round(*heads)
    assert names(theirs, Admit) == ["one", "two"]


def test_a_workload_without_pods_is_admitted_even_when_all_is_used() -> None:
    arena = Arena(queue("a", 4), running("mine", "a", 4))
    [judgement] = arena.round(workload("empty", {"cpu": 1}, 0, local_queue="team/a"))
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].flavors == {"cpu": "default"}
