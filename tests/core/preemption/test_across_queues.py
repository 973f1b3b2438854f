"""Reclaiming from borrowers: classes of candidates, borrowing attempts, hierarchies."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Mode, PreemptionReason, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import ClusterQueueFact, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.settings import (
    AdmissionFairSharing,
    Compatibility,
    FairSharing,
    Settings,
)
from queueing.testing.arena import Arena
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    cohort,
    preemption,
    quota,
    workload,
)

NEVER, ANY = PreemptionPolicy.NEVER, PreemptionPolicy.ANY
LOWER = PreemptionPolicy.LOWER_PRIORITY
RECLAIM = PreemptionReason.IN_COHORT_RECLAMATION
BORROWING = PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
OWN = PreemptionReason.IN_CLUSTER_QUEUE


def queue(
    name: str,
    cpu: int,
    parent: str = "c",
    *,
    within: PreemptionPolicy = NEVER,
    reclaim: PreemptionPolicy = NEVER,
    borrow: PreemptionPolicy = NEVER,
    threshold: int | None = None,
    limit: int | None = None,
) -> ClusterQueueFact:
    return cluster_queue(
        name,
        {"default": {"cpu": quota(cpu, borrowing=limit)}},
        cohort=parent,
        preemption=preemption(within=within, reclaim=reclaim, borrow=borrow, threshold=threshold),
    )


def running(name: str, cpu: int, priority: int = 0, created: float = 0.0) -> WorkloadFact:
    """A workload in the queue that its name starts with."""
    where = name.partition("-")[0]
    return admitted(
        name,
        {"cpu": cpu},
        queue=where,
        local_queue=f"team/{where}",
        priority=priority,
        created=created,
    )


def job(cpu: int, priority: int = 0, queue: str = "a", name: str = "new") -> WorkloadFact:
    return workload(
        name, {"cpu": cpu}, local_queue=f"team/{queue}", priority=priority, created=100.0
    )


def victims(judgement: Ruling) -> list[tuple[str, PreemptionReason]]:
    return [(str(one.workload).removeprefix("team/"), one.reason) for one in judgement.preemptions]


@pytest.mark.parametrize(
    ("reclaim", "priority", "want"),
    [
        pytest.param(ANY, 0, [("b-over", RECLAIM)], id="any borrower"),
        pytest.param(LOWER, 6, [("b-over", RECLAIM)], id="a borrower of lower priority"),
        pytest.param(LOWER, 5, [], id="not one of equal priority"),
        pytest.param(NEVER, 9, [], id="nobody"),
    ],
)
def test_own_quota_is_reclaimed_from_borrowers(
    reclaim: PreemptionPolicy, priority: int, want: list[tuple[str, PreemptionReason]]
) -> None:
    arena = Arena(queue("a", 5, reclaim=reclaim), queue("b", 5), running("b-over", 8, 5))
    [judgement] = arena.round(job(4, priority))
    assert victims(judgement) == want


def test_who_stays_within_nominal_is_never_reclaimed_from() -> None:
    arena = Arena(
        queue("a", 5, reclaim=ANY),
        queue("b", 5),
        queue("d", 5),
        running("b-home", 5, 0),
        running("d-one", 5, 7),
        running("d-two", 5, 8),
    )
    [judgement] = arena.round(job(5, 9))
    assert victims(judgement) == [("d-one", RECLAIM)]


def test_a_queue_is_taken_from_only_until_it_is_within_nominal() -> None:
    arena = Arena(
        queue("a", 6, reclaim=ANY),
        queue("b", 3),
        queue("d", 3),
        running("b-one", 3, 0, 2),
        running("b-two", 3, 0, 1),
        running("d-one", 3, 5, 2),
        running("d-two", 3, 5, 1),
    )
    [judgement] = arena.round(job(6, 9))
    assert victims(judgement) == [("b-one", RECLAIM), ("d-one", RECLAIM)]


@pytest.mark.parametrize(
    ("borrow", "threshold", "want"),
    [
        pytest.param(NEVER, None, [], id="not while borrowing itself"),
        pytest.param(LOWER, None, [("b-over", BORROWING)], id="lower priorities, if so configured"),
        pytest.param(LOWER, 4, [("b-over", BORROWING)], id="up to the threshold"),
        pytest.param(LOWER, 3, [], id="not above it"),
    ],
)
def test_preempting_while_borrowing(
    borrow: PreemptionPolicy, threshold: int | None, want: list[tuple[str, PreemptionReason]]
) -> None:
    arena = Arena(
        queue("a", 2, reclaim=LOWER, borrow=borrow, threshold=threshold),
        queue("b", 2),
        queue("d", 4),
        running("b-over", 6, 4),
        running("d-home", 2, 9),
    )
    [judgement] = arena.round(job(3, 9))
    assert victims(judgement) == want


def test_an_equal_is_not_preempted_while_borrowing_though_it_may_be_reclaimed_from() -> None:
    arena = Arena(queue("a", 2, reclaim=ANY, borrow=LOWER), queue("b", 2), running("b-over", 4, 4))
    [beyond] = arena.round(job(3, 4))
    assert victims(beyond) == []
    [within] = arena.round(job(2, 4))
    assert victims(within) == [("b-over", RECLAIM)]


def test_own_lower_priorities_go_when_reclaiming_is_not_enough() -> None:
    arena = Arena(
        queue("a", 6, within=LOWER, reclaim=ANY),
        queue("b", 4),
        running("a-low", 4),
        running("b-over", 6),
    )
    [judgement] = arena.round(job(5, 9))
    assert victims(judgement) == [("b-over", RECLAIM), ("a-low", OWN)]


def test_a_queue_over_its_nominal_only_looks_at_its_own() -> None:
    arena = Arena(
        queue("a", 4, within=LOWER, reclaim=ANY),
        queue("b", 2),
        queue("idle", 8),
        running("a-low", 6),
        running("b-over", 8),
    )
    [judgement] = arena.round(job(4, 9))
    assert victims(judgement) == [("a-low", OWN)]


def test_more_than_nominal_is_never_reached_by_preemption_without_the_right_to_borrow() -> None:
    arena = Arena(queue("a", 2, within=LOWER, reclaim=ANY), queue("b", 8), running("a-low", 10))
    [judgement] = arena.round(job(4, 9))
    assert isinstance(judgement.decision, Wait)
    assert (judgement.decision.mode, judgement.preemptions) == (Mode.NO_FIT, ())


def test_a_subtree_that_covers_the_request_reclaims_from_outside_it() -> None:
    arena = Arena(
        cohort("left", "top"),
        cohort("right", "top"),
        queue("a", 2, "left", reclaim=ANY),
        queue("sibling", 6, "left"),
        queue("b", 2, "right"),
        running("b-over", 9, 9),
    )
    [judgement] = arena.round(job(7))
    assert victims(judgement) == [("b-over", RECLAIM)]
    [preempt] = judgement.preemptions
    assert (preempt.preemptor_path, preempt.victim_path) == ("/top/left/a", "/top/right/b")


def test_a_cohort_within_its_quota_shields_its_borrowing_queues() -> None:
    arena = Arena(
        cohort("left", "top"),
        cohort("right", "top"),
        queue("a", 4, "left", reclaim=ANY),
        queue("hog", 0, "left"),
        queue("b", 2, "right"),
        queue("mate", 4, "right"),
        running("b-over", 5, 0),
        running("hog-one", 4, 9),
    )
    [judgement] = arena.round(job(4, 9))
    assert victims(judgement) == [("hog-one", RECLAIM)]


def test_two_preemptors_never_share_a_victim() -> None:
    arena = Arena(
        queue("a", 4, reclaim=ANY),
        queue("d", 4, reclaim=ANY),
        queue("b", 0),
        running("b-one", 4, 0),
        running("b-two", 4, 1),
    )
    judgements = arena.round(job(3, name="first"), job(3, queue="d", name="second"))
    assert [victims(one) for one in judgements] == [[("b-one", RECLAIM)], [("b-two", RECLAIM)]]


@pytest.mark.parametrize(
    ("compatibility", "message"),
    [
        pytest.param(
            Compatibility.QUEUEING,
            "Workload fits only once the workloads preempted for another one have released their "
            "quota",
            id="it is promised what the victims leave",
        ),
        pytest.param(
            Compatibility.KUEUE,
            "Workload has overlapping preemption targets with another workload, "
            "but will fit after these preemptions complete",
            id="as Kueue",
        ),
    ],
)
def test_who_fits_beside_the_first_preemptor_waits_for_the_same_victims(
    compatibility: Compatibility, message: str
) -> None:
    arena = Arena(
        queue("a", 4, reclaim=ANY),
        queue("d", 4, reclaim=ANY),
        queue("b", 0),
        running("b-one", 8, 0),
        settings=Settings(compatibility=compatibility),
    )
    first, second = arena.round(job(3, name="first"), job(3, queue="d", name="second"))
    assert victims(first) == [("b-one", RECLAIM)]
    assert isinstance(second.decision, Wait)
    assert second.decision.mode is Mode.DEFERRED_FIT
    assert second.preemptions == ()
    assert second.decision.message == message


def test_the_second_round_after_the_victims_left_admits() -> None:
    arena = Arena(queue("a", 4, reclaim=ANY), queue("b", 0), running("b-one", 4))
    [judgement] = arena.round(job(3))
    arena.release(judgement.preemptions[0].workload)
    [judgement] = arena.round(job(3))
    assert isinstance(judgement.decision, Admit)


def test_a_borrowing_limit_binds_a_preemptor_too() -> None:
    arena = Arena(
        queue("a", 2, reclaim=LOWER, borrow=LOWER, limit=1),
        queue("b", 8),
        running("b-over", 10),
    )
    [judgement] = arena.round(job(4, 9))
    assert judgement.preemptions == ()


@pytest.mark.parametrize("fair", [None, FairSharing(strategies=("LessThanOrEqualToFinalShare",))])
def test_the_next_of_each_queue_are_compared_where_local_queues_take_turns(
    fair: FairSharing | None,
) -> None:
    borrowers = [replace(queue(name, 0), admission_fair_sharing=name == "r") for name in "rs"]
    arena = Arena(
        queue("a", 4, reclaim=LOWER),
        *borrowers,
        running("r-greedy", 1, priority=5),
        running("r-modest", 1, priority=1),
        running("s", 2, priority=3),
        settings=Settings(
            admission_fair_sharing=AdmissionFairSharing(half_life_s=60), fair_sharing=fair
        ),
    )
    greedy, modest = (
        replace(arena.held[QueueName("r")][running(name, 1).key], local_queue=Key(f"team/{name}"))
        for name in ("r-greedy", "r-modest")
    )
    arena.held[QueueName("r")] = {one.key: one for one in (greedy, modest)}
    arena.local_usages = {Key("team/r-greedy"): 7.0, Key("team/r-modest"): 1.0}
    [judgement] = arena.round(job(3, priority=9))
    assert [one.workload for one in judgement.preemptions] == [
        running(name, 1).key for name in ("s", "r-greedy")
    ]
