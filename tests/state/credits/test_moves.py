"""Queues that move, shrink or go: debt stays with whom it belongs to."""

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
)
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    namespace,
)
from tests.state.credits.rivals import SETTINGS, START, balances, end, queue, run, world
from tests.state.members import LASTING


def moved(made: SimulatedCluster, name: str, to: str, at: float) -> dict[str, dict[str, int]]:
    """Move a queue to another cohort; return the balances of both."""
    own = {"default": {"cpu": 4000}}
    made.observe(cluster_queue(name, own, cohort=to))
    made.cycle(at)
    found = {}
    for account in made.engine.credits.accounts():
        assert sum(one.balance for one in account.children) + sum(account.sinks.values()) == 0
        of = {one.member.name: round(one.balance / PART / MICRO) for one in account.children}
        found[str(account.cohort)] = of
    return found


def with_debt() -> SimulatedCluster:
    """Make a world in which `a` owes 800, `b` and `c` have 400 each, and `d` is elsewhere."""
    made = world()
    made.observe(cohort("other"))
    made.observe(cluster_queue("d", {"default": {"cpu": 4000}}, cohort="other"))
    run(made, "big", "a", 12, at=START)
    end(made, "big", START + 100)
    made.cycle(START + 101)
    return made


def test_debt_goes_along_with_a_queue_that_is_moved() -> None:
    made = with_debt()
    assert moved(made, "a", "other", START + 102) == {
        "all": {"a": 0, "b": 400, "c": 400},
        "other": {"a": -800, "d": 0},
    }
    back = moved(made, "a", "all", START + 103)
    assert (back["all"]["a"], back["other"]["a"]) == (-800, 0)


def test_debt_goes_along_with_the_last_queue_of_a_cohort() -> None:
    made = with_debt()
    for name in "bc":
        moved(made, name, "third", START + 102)
    assert moved(made, "a", "other", START + 103)["other"] == {"a": -800, "d": 0}


def test_a_surplus_is_not_taken_along_and_waits_for_a_return() -> None:
    made = with_debt()
    assert moved(made, "b", "other", START + 102)["other"] == {"b": 0, "d": 0}
    assert moved(made, "b", "all", START + 103)["all"]["b"] == 400


def test_a_restart_after_a_move_finds_the_debt_where_the_queue_is() -> None:
    made = with_debt()
    stored = made.engine.credits.accounts()
    again = SimulatedCluster(
        [cohort("all"), cohort("other"), flavor(), namespace()], settings=SETTINGS
    )
    for name in "bc":
        again.observe(queue(name))
    for name in "ad":
        again.observe(cluster_queue(name, {"default": {"cpu": 4000}}, cohort="other"))
    again.engine.observe(LASTING)
    for account in stored:
        again.engine.observe(account)
    assert moved(again, "a", "other", START + 102)["other"] == {"a": -800, "d": 0}


def test_a_cut_of_quota_shrinks_a_surplus_and_no_debt() -> None:
    made = world()
    run(made, "big", "a", 8, at=START)
    before = balances(made, START + 100)
    for name in ("a", "b"):
        made.observe(queue(name, cores=2))
    after = balances(made, START + 100)
    assert after["a"] == before["a"] < 0
    assert after["b"] == pytest.approx(before["b"] / 2, rel=0.01)


def test_quota_that_is_gone_earns_nothing() -> None:
    """An admin who takes a lost node's quota away stops what it would have earned."""
    made = world()
    run(made, "big", "a", 8, at=START)
    balances(made, START + 100)
    for name in ("b", "c"):
        made.observe(queue(name, cores=0))
    first = balances(made, START + 100)
    assert balances(made, START + 200)["b"] == first["b"]
