"""Victims by shares."""

from fractions import Fraction

import pytest

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import ClusterQueueFact, CohortFact, PreemptionPolicy, WorkloadFact
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, cohort, preemption, workload

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
FAIR = PreemptionReason.IN_COHORT_FAIR_SHARING
RECLAIM = PreemptionReason.IN_COHORT_RECLAMATION
OWN = PreemptionReason.IN_CLUSTER_QUEUE
POLICIES = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)


Facts = tuple[ClusterQueueFact | CohortFact | WorkloadFact, ...]


def queue(
    name: str, cpu: int, parent: str = "c", *, weight: Fraction = Fraction(1)
) -> ClusterQueueFact:
    return cluster_queue(
        name, {"default": {"cpu": cpu}}, cohort=parent, preemption=POLICIES, fair_weight=weight
    )


def running(name: str, cpu: int, priority: int = 0, created: float = 0.0) -> WorkloadFact:
    """A workload in the queue that its name starts with."""
    return admitted(
        name, {"cpu": cpu}, queue=name.partition("-")[0], priority=priority, created=created
    )


def victims(
    facts: Facts,
    cpu: int,
    *strategies: str,
    within_nominal: bool = True,
    as_kueue: bool = False,
) -> list[tuple[str, PreemptionReason]]:
    """Return whom a workload of priority 0 in queue a preempts, and why."""
    fair = FairSharing(
        strategies=strategies or (FINAL, INITIAL), preempt_within_nominal=within_nominal
    )
    mode = Compatibility.KUEUE if as_kueue else Compatibility.QUEUEING
    arena = Arena(*facts, settings=Settings(compatibility=mode, fair_sharing=fair))
    [judgement] = arena.round(workload("new", {"cpu": cpu}, local_queue="team/a"))
    return [(str(one.workload).removeprefix("team/"), one.reason) for one in judgement.preemptions]


def test_own_nominal_quota_is_reclaimed_from_borrowers() -> None:
    facts = (queue("a", 3), queue("b", 3), running("b-one", 3), running("b-two", 3, 1))
    assert victims(facts, 3) == [("b-one", RECLAIM)]


def test_the_one_with_the_highest_share_gives_first() -> None:
    facts: Facts = (
        queue("a", 0),
        queue("b", 0),
        queue("d", 0),
        queue("lender", 10),
        *(running(f"b-{number}", 1) for number in range(7)),
        *(running(f"d-{number}", 1) for number in range(3)),
    )
    assert victims(facts, 2) == [("b-0", FAIR), ("b-1", FAIR)]


@pytest.mark.parametrize(
    ("strategies", "want"),
    [
        pytest.param((FINAL,), [], id="not if the target would end below the preemptor"),
        pytest.param((INITIAL,), [("b-one", FAIR)], id="if the target is above it now"),
        pytest.param((FINAL, INITIAL), [("b-one", FAIR)], id="the second rule after the first"),
    ],
)
def test_strategies(strategies: tuple[str, ...], want: list[tuple[str, PreemptionReason]]) -> None:
    facts: Facts = (
        queue("a", 0),
        queue("b", 0),
        queue("lender", 10),
        running("b-one", 6),
        running("lender-one", 4),
    )
    assert victims(facts, 5, *strategies) == want


def test_equal_shares_in_the_end_are_fair() -> None:
    facts: Facts = (
        queue("a", 0),
        queue("b", 0),
        queue("lender", 6),
        running("b-one", 3),
        running("b-two", 3, 1),
    )
    assert victims(facts, 3, FINAL) == [("b-one", FAIR)]
    assert victims(facts, 4, FINAL) == []


def test_weights_shift_what_is_fair() -> None:
    facts: Facts = (
        queue("a", 0, weight=Fraction(2)),
        queue("b", 0),
        queue("lender", 6),
        *(running(f"b-{number}", 1) for number in range(6)),
    )
    assert len(victims(facts, 4, FINAL)) == 4
    assert victims(facts, 5, FINAL) == []


def test_own_lower_priorities_are_victims_when_the_own_share_is_the_highest() -> None:
    facts = (queue("a", 2), queue("b", 2), running("a-low", 4, -1))
    assert victims(facts, 2) == [("a-low", OWN)]


def test_a_lone_queue_preempts_its_own() -> None:
    facts: Facts = (
        cluster_queue("a", {"default": {"cpu": 4}}, preemption=POLICIES),
        running("a-low", 4, -1),
    )
    assert victims(facts, 2) == [("a-low", OWN)]


def test_who_does_not_borrow_is_never_a_victim() -> None:
    facts = (queue("a", 0), queue("b", 5), running("b-home", 5))
    assert victims(facts, 2) == []


def test_shares_are_compared_below_the_common_cohort() -> None:
    facts: Facts = (
        cohort("left", "top"),
        cohort("right", "top"),
        queue("a", 0, "left"),
        queue("mate", 0, "left"),
        queue("b", 0, "right"),
        queue("lender", 12, "top"),
        running("mate-one", 6),
        running("b-one", 6, 5),
    )
    assert victims(facts, 3, FINAL) == []


def test_reclaiming_by_right_can_be_switched_off() -> None:
    facts: Facts = (
        queue("a", 2),
        queue("b", 0),
        queue("lender", 8),
        running("b-one", 10),
    )
    assert victims(facts, 2, FINAL) == [("b-one", RECLAIM)]
    assert victims(facts, 2, FINAL, within_nominal=False) == [("b-one", FAIR)]


def test_who_would_come_back_by_right_is_not_taken() -> None:
    """Once q is down to 1 of its own 1, q-low could take its place back from the borrower."""
    facts: Facts = (
        cohort("left", "top"),
        queue("a", 0, "top"),
        queue("lender", 11, "top"),
        queue("q", 1, "left"),
        queue("p", 0, "left", weight=Fraction(100)),
        running("q-low", 1, -1),
        running("q-high", 2),
        *(running(f"p-{number}", 1) for number in range(9)),
    )
    assert victims(facts, 3, as_kueue=True) == [("q-low", FAIR), ("q-high", FAIR)]
    assert victims(facts, 3) == [("q-high", FAIR), ("p-0", FAIR)]


def test_sparing_the_own_victims_must_not_make_the_others_unfair() -> None:
    """With a-low back, a would use 13 of 20: more than b used with its victim, 8."""
    facts: Facts = (
        queue("a", 0),
        queue("b", 0),
        queue("lender", 20),
        running("lender-own", 6),
        running("a-low", 6, -1),
        running("b-one", 8),
    )
    assert victims(facts, 7, as_kueue=True) == [("b-one", FAIR)]
    assert victims(facts, 7) == [("a-low", OWN), ("b-one", FAIR)]


def test_the_second_rule_breaks_ties_by_the_best_candidate_not_by_who_was_asked_first() -> None:
    """b is asked first and comes down to d's share; d-one, reserved last, is the better victim."""
    facts: Facts = (
        queue("a", 0),
        queue("b", 0),
        queue("d", 0),
        queue("lender", 20),
        running("lender-own", 6),
        running("b-large", 6, created=2),
        running("b-small", 2, created=1),
        running("d-one", 6, created=3),
    )
    assert victims(facts, 5) == [("d-one", FAIR)]
