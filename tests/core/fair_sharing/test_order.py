"""The tournament: who is decided first when shares count."""

from dataclasses import replace
from fractions import Fraction

from queueing.core.decisions import Admit
from queueing.core.entries import Ruling
from queueing.core.facts import WorkloadFact
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, cohort, workload

THE_LETTER = Compatibility.KUEUE
"""In the default mode who borrows and comes too late is not told, and judged in the next round."""
FAIR = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
BY_SHARE_ALONE = Settings(
    fair_sharing=FairSharing(
        strategies=("LessThanOrEqualToFinalShare",), prioritize_non_borrowing=False
    )
)


def job(queue: str, cpu: int, priority: int = 0, created: float = 0.0) -> WorkloadFact:
    return workload(
        f"head-{queue}",
        {"cpu": cpu},
        local_queue=f"team/{queue}",
        priority=priority,
        created=created,
    )


def running(queue: str, cpu: int) -> WorkloadFact:
    return admitted(f"held-{queue}", {"cpu": cpu}, queue=queue)


def order(judgements: list[Ruling]) -> list[str]:
    return [str(one.head.queue) for one in judgements]


def admitted_queues(judgements: list[Ruling]) -> list[str]:
    return [str(one.head.queue) for one in judgements if isinstance(one.decision, Admit)]


def test_the_lower_share_comes_first_whatever_the_priority() -> None:
    arena = Arena(
        cluster_queue("a", {"default": {"cpu": 0}}, cohort="c"),
        cluster_queue("b", {"default": {"cpu": 0}}, cohort="c"),
        cluster_queue("lender", {"default": {"cpu": 10}}, cohort="c"),
        running("a", 5),
        settings=replace(FAIR, compatibility=THE_LETTER),
    )
    judgements = arena.round(job("a", 3, priority=9), job("b", 3))
    assert order(judgements) == ["b", "a"]
    assert admitted_queues(judgements) == ["b"]


def test_a_larger_weight_bears_a_larger_part() -> None:
    arena = Arena(
        cluster_queue("a", {"default": {"cpu": 0}}, cohort="c", fair_weight=Fraction(4)),
        cluster_queue("b", {"default": {"cpu": 0}}, cohort="c"),
        cluster_queue("lender", {"default": {"cpu": 10}}, cohort="c"),
        running("a", 3),
        running("b", 2),
        settings=replace(FAIR, compatibility=THE_LETTER),
    )
    assert order(arena.round(job("a", 3), job("b", 3))) == ["a", "b"]


def test_who_does_not_borrow_comes_first() -> None:
    facts = (
        cluster_queue("a", {"default": {"cpu": 2}, "other": {"gpu": 0}}, cohort="c"),
        cluster_queue("b", {"default": {"cpu": 1}}, cohort="c", fair_weight=Fraction(100)),
        cluster_queue("lender", {"default": {"cpu": 10}}, cohort="c"),
        running("b", 1),
    )
    assert order(Arena(*facts, settings=FAIR).round(job("b", 1, 9), job("a", 2))) == ["a", "b"]


def test_equal_shares_fall_back_to_priority_then_to_time() -> None:
    facts = (
        cluster_queue("a", {"default": {"cpu": 0}}, cohort="c"),
        cluster_queue("b", {"default": {"cpu": 0}}, cohort="c"),
        cluster_queue("lender", {"default": {"cpu": 10}}, cohort="c"),
    )
    first = Arena(*facts, settings=FAIR).round(job("a", 1, created=1), job("b", 1, 5, created=2))
    second = Arena(*facts, settings=FAIR).round(job("a", 1, created=2), job("b", 1, created=1))
    assert (order(first), order(second)) == (["b", "a"], ["b", "a"])


def test_a_cohort_plays_with_its_own_share() -> None:
    arena = Arena(
        cohort("left", "top"),
        cohort("right", "top"),
        cluster_queue("a", {"default": {"cpu": 0}}, cohort="left"),
        cluster_queue("greedy", {"default": {"cpu": 0}}, cohort="left"),
        cluster_queue("b", {"default": {"cpu": 0}}, cohort="right"),
        cluster_queue("lender", {"default": {"cpu": 20}}, cohort="top"),
        running("greedy", 8),
        running("b", 4),
        settings=BY_SHARE_ALONE,
    )
    assert order(arena.round(job("a", 1), job("b", 1))) == ["b", "a"]


def test_shares_are_taken_anew_after_every_admission() -> None:
    arena = Arena(
        cohort("left", "top"),
        cohort("right", "top"),
        cluster_queue("a", {"default": {"cpu": 0}}, cohort="left"),
        cluster_queue("b", {"default": {"cpu": 0}}, cohort="left"),
        cluster_queue("d", {"default": {"cpu": 0}}, cohort="right"),
        cluster_queue("lender", {"default": {"cpu": 20}}, cohort="top"),
        settings=BY_SHARE_ALONE,
    )
    judgements = arena.round(job("a", 2), job("b", 3), job("d", 4))
    assert order(judgements) == ["a", "d", "b"]


def test_trees_are_decided_one_after_the_other_by_name() -> None:
    arena = Arena(
        cluster_queue("z", {"default": {"cpu": 5}}, cohort="x"),
        cluster_queue("y", {"default": {"cpu": 5}}, cohort="w"),
        cluster_queue("alone", {"default": {"cpu": 5}}),
        settings=FAIR,
    )
    assert order(arena.round(job("alone", 1), job("z", 1), job("y", 1))) == ["y", "z", "alone"]
