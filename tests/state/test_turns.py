"""Usage histories of LocalQueues: the formula, and when it is applied."""

from fractions import Fraction

import pytest

from queueing.core.facts import LocalQueueFact
from queueing.core.names import FlavorName, FlavorResource, Key, QueueName, ResourceName
from queueing.core.settings import AdmissionFairSharing
from queueing.reports.queues import history_of
from queueing.state.usage.turns import Turns

CPU = ResourceName("cpu")
CORES = FlavorResource(FlavorName("default"), CPU)
A, B = Key("team/a"), Key("team/b")
HALF_LIFE_S = 3_600.0
DAILY = AdmissionFairSharing(half_life_s=HALF_LIFE_S, sampling_interval_s=300.0)


def door(key: Key = A, *, weight: int = 1, **stored: float) -> LocalQueueFact:
    at = stored.pop("at", None)
    return LocalQueueFact(
        key=key,
        cluster_queue=QueueName("main"),
        fair_weight=Fraction(weight),
        consumed=tuple((ResourceName(name), amount) for name, amount in stored.items()),
        sampled_at=at,
    )


def opened(settings: AdmissionFairSharing = DAILY, *doors: LocalQueueFact) -> Turns:
    turns = Turns(settings)
    for one in doors or (door(),):
        turns.open(one)
    turns.advance(0.0)
    return turns


def history(turns: Turns, key: Key = A) -> float:
    found = history_of(turns, key)
    assert found is not None
    return found.consumed.get(CPU, 0.0)


def runs(turns: Turns, cores: int, *, sign: int = 1) -> None:
    turns.charge(A, {CORES: cores * 1_000}, runs=True, sign=sign)


def test_what_runs_for_a_half_life_counts_by_half() -> None:
    turns = opened()
    runs(turns, 8)
    turns.advance(0.0)
    turns.advance(HALF_LIFE_S)
    assert history(turns) == pytest.approx(4.0)
    runs(turns, 8, sign=-1)
    turns.advance(HALF_LIFE_S)
    turns.advance(2 * HALF_LIFE_S)
    assert history(turns) == pytest.approx(2.0)


def test_samples_in_between_add_up_to_one_long_step() -> None:
    often, once = opened(), opened()
    for turns in (often, once):
        runs(turns, 8)
        turns.advance(0.0)
    for second in range(100, 7_300, 100):
        often.advance(float(second))
    once.advance(7_200.0)
    assert history(often) == pytest.approx(history(once))


def test_between_two_samples_nothing_moves_however_often_somebody_looks() -> None:
    turns = opened()
    runs(turns, 8)
    turns.advance(0.0)
    turns.advance(650.0)
    before = history_of(turns, A)
    assert before is not None
    assert before.updated == 600.0
    turns.advance(899.0)
    assert history_of(turns, A) == before
    assert turns.advance(900.0) == [A]
    assert turns.next_at == 1_200.0


def test_a_penalty_counts_from_the_assumption_and_becomes_history_when_admitted() -> None:
    turns = opened()
    turns.charge(A, {CORES: 8_000}, runs=False, sign=1)
    ahead = 8 * (1 - 0.5 ** (300 / HALF_LIFE_S))
    assert turns.usage(A) == pytest.approx(ahead)
    turns.charge(A, {CORES: 8_000}, runs=False, sign=-1)
    turns.charge(A, {CORES: 8_000}, runs=True, sign=1)
    turns.arrive(A, {CORES: 8_000})
    turns.advance(0.0)
    assert history(turns) == pytest.approx(ahead)
    assert turns.usage(A) == pytest.approx(ahead)


def test_a_rolled_back_assumption_leaves_no_penalty() -> None:
    turns = opened()
    for sign in (1, -1):
        turns.charge(A, {CORES: 8_000}, runs=False, sign=sign)
    turns.advance(1.0)
    assert turns.usage(A) == 0.0


def test_one_that_ends_while_an_equal_one_is_admitted_still_has_its_penalty() -> None:
    turns = opened()
    runs(turns, 8)
    turns.advance(0.0)
    runs(turns, 8, sign=-1)
    runs(turns, 8)
    turns.arrive(A, {CORES: 8_000})
    turns.advance(0.0)
    assert history(turns) == pytest.approx(8 * (1 - 0.5 ** (300 / HALF_LIFE_S)))


def test_a_restart_goes_on_from_what_status_stores_with_what_runs_now() -> None:
    lived, reborn = opened(), Turns(DAILY)
    runs(lived, 8)
    lived.advance(0.0)
    lived.advance(3_000.0)
    reborn.open(door(cpu=history(lived), at=3_000.0))
    runs(reborn, 8)
    for turns in (lived, reborn):
        turns.advance(4_500.0)
    assert history(reborn) == pytest.approx(history(lived))


def test_our_own_status_read_back_changes_nothing() -> None:
    turns = opened(DAILY, door(cpu=1.0, at=0.0))
    turns.open(door(cpu=77.0, at=0.0))
    assert history(turns) == 1.0


def test_a_clock_that_went_back_changes_nothing() -> None:
    turns = opened(DAILY, door(cpu=1.0, at=10_000.0))
    turns.advance(5_000.0)
    found = history_of(turns, A)
    assert found is not None
    assert (found.consumed, found.updated) == ({CPU: 1.0}, 10_000.0)


def test_without_a_half_life_each_sample_starts_empty() -> None:
    turns = opened(AdmissionFairSharing(half_life_s=0.0), door(cpu=5.0, at=0.0))
    turns.advance(300.0)
    assert history(turns) == 0.0


def test_weights_divide_and_a_weight_of_nothing_comes_last() -> None:
    doors = (door(A, weight=2, cpu=4.0, at=0.0), door(B, weight=0, at=0.0))
    turns = opened(DAILY, *doors)
    assert turns.usage(A) == 2.0
    assert turns.usage(B) == float("inf")


def test_a_local_queue_that_comes_back_has_no_past() -> None:
    turns = opened(DAILY, door(cpu=4.0, at=0.0))
    turns.close(A)
    assert history_of(turns, A) is None
    turns.open(door())
    assert turns.usage(A) == 0.0


def test_nobody_is_woken_for_histories_that_stand_still() -> None:
    turns = opened()
    assert turns.next_at is None


def test_a_local_queue_made_again_has_no_history_but_what_still_runs_there_counts() -> None:
    turns = opened()
    runs(turns, 8)
    turns.advance(0.0)
    turns.advance(HALF_LIFE_S)
    turns.close(A)
    turns.open(door())
    turns.advance(HALF_LIFE_S)
    assert history(turns) == 0.0
    turns.advance(2 * HALF_LIFE_S)
    assert history(turns) == pytest.approx(4.0)
