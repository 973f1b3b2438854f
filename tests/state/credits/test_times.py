"""Clocks that jump, times in the past, priorities and lost nodes."""

from tests.state.credits.rivals import START, balances, end, evict, run, world


def test_a_clock_that_jumps_back_takes_nothing_back() -> None:
    made = world()
    run(made, "big", "a", 8, at=START + 50)
    before = balances(made, START + 150)
    assert balances(made, START + 20) == before
    assert balances(made, START + 160)["a"] == before["a"] - 40


def test_a_time_in_the_past_is_counted_from_where_the_ledger_stands() -> None:
    made = world()
    balances(made, START + 100)
    run(made, "late", "a", 8, at=START + 100)
    end(made, "late", START + 10)
    assert balances(made, START + 200)["a"] == 0


def test_a_higher_priority_costs_more_where_the_policy_says_so() -> None:
    made = world(class_factors=((100, 2),))
    run(made, "dear", "a", 8, at=START, priority=100)
    assert balances(made, START + 100)["a"] == -800


def test_quota_whose_nodes_are_lost_earns_only_what_others_really_hold_of_it() -> None:
    """Six of twelve cores are lost: their work is evicted, and what still fits is all that pays."""
    made = world()
    run(made, "lost", "a", 8, at=START)
    run(made, "kept", "a", 2, at=START)
    evict(made, "lost", START + 100)
    then = balances(made, START + 100)
    assert then["b"] == then["c"] == 300
    assert balances(made, START + 200) == then
    run(made, "back", "a", 3, at=START + 200)
    assert balances(made, START + 300)["a"] == then["a"] - 100
