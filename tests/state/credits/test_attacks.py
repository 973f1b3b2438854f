"""Ways to get something for nothing that do not work."""

import pytest

from queueing.core.facts import Gone, Kind
from tests.state.credits.rivals import START, balances, end, queue, run, world


def test_flooding_between_two_looks_is_paid_for_to_the_second() -> None:
    made = world()
    for number in range(8):
        run(made, f"f{number}", "a", 1, at=START + 10)
    for number in range(8):
        end(made, f"f{number}", START + 13)
    assert balances(made, START + 600)["a"] == -(8 - 4) * 3


def test_running_for_longer_than_the_half_life_does_not_outlast_the_debt() -> None:
    made = world(half_life_s=1024, debt_limit_s=10**6)
    run(made, "long", "a", 12, at=START)
    early, late = balances(made, START + 1024), balances(made, START + 10 * 1024)
    assert late["a"] < early["a"] < 0


def test_hoarding_is_billed_like_using() -> None:
    made = world()
    run(made, "idle", "a", 12, at=START)
    assert balances(made, START + 100)["a"] == -8 * 100


def test_idling_while_nobody_borrows_earns_nothing() -> None:
    assert set(balances(world(), START + 10**6).values()) == {0}


def test_lending_to_a_friend_makes_the_pair_no_richer() -> None:
    made = world()
    run(made, "wash", "a", 8, at=START)
    run(made, "own", "c", 4, at=START)
    found = balances(made, START + 100)
    assert found["a"] + found["b"] == pytest.approx(0, abs=0.01)
    assert found["c"] == 0


def test_more_queues_without_quota_earn_nothing() -> None:
    made = world()
    for number in range(5):
        made.observe(queue(f"extra{number}", cores=0))
    run(made, "big", "a", 8, at=START)
    found = balances(made, START + 100)
    assert {found[f"extra{number}"] for number in range(5)} == {0}


def test_debt_is_not_wiped_by_deleting_a_queue_nor_by_another_name() -> None:
    made = world()
    run(made, "big", "a", 12, at=START)
    end(made, "big", START + 100)
    balances(made, START + 101)
    made.observe(Gone(Kind.WORKLOAD, "team/big"))
    made.observe(Gone(Kind.CLUSTER_QUEUE, "a"))
    before = balances(made, START + 102)
    made.observe(queue("renamed"))
    made.observe(queue("a"))
    after = balances(made, START + 103)
    assert after["a"] == before["a"] == -800
    assert after["renamed"] <= 0, "a newcomer never starts with what others earned"
