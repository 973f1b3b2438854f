"""When a waiting workload will be admitted, told of what is known."""

from dataclasses import replace
from math import inf

import pytest

from queueing.core.facts import Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.forecast.estimate import estimate
from queueing.sim.forecast.outlook import World, outlook, spread_out
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    workload,
)

NOW = 10_000.0
WAITS = Key("team/waits")
OBJECTS: tuple[Fact, ...] = (namespace(), flavor(), cluster_queue(), local_queue())


def running(name: str, since: float, *, max_execution_s: int | None = None) -> WorkloadFact:
    """Return a workload that holds all quota since a time."""
    made = admitted(name, {"cpu": 10_000}, max_execution_s=max_execution_s)
    told = {one: replace(found, changed=since) for one, found in made.conditions.items()}
    return replace(made, conditions=told, created=0.0)


def ended(name: str, took_s: float) -> WorkloadFact:
    made = running(name, 0.0)
    done = condition("Finished", changed=took_s)
    return replace(made, conditions={**made.conditions, "Finished": done})


def waiting(
    name: str = "waits",
    *,
    created: float = 1.0,
    priority: int = 0,
    max_execution_s: int | None = None,
) -> WorkloadFact:
    return workload(
        name,
        {"cpu": 10_000},
        created=created,
        priority=priority,
        max_execution_s=max_execution_s,
    )


def world(*facts: Fact) -> World:
    return World.of((*OBJECTS, *facts), Settings(), NOW)


def test_a_limit_of_what_runs_is_an_end_by_which_it_is_admitted() -> None:
    found = outlook(world(running("runs", NOW - 40, max_execution_s=100), waiting()), [WAITS])
    first, last = found.prospects[WAITS].range(1.0)
    assert 0.0 <= first < last <= 60.0
    assert found.is_known


def test_what_ended_in_the_same_queue_tells_when_the_next_one_ends() -> None:
    past = [ended(f"ended-{number}", 100.0) for number in range(9)]
    found = outlook(world(*past, running("runs", NOW - 20), waiting()), [WAITS])
    first, last = found.prospects[WAITS].range(0.5)
    assert 50.0 < first < last < 130.0


def test_who_has_run_for_most_of_the_usual_time_does_not_end_at_once() -> None:
    past = [ended(f"ended-{number}", 100.0) for number in range(9)]
    found = outlook(world(*past, running("runs", NOW - 90), waiting()), [WAITS])
    assert min(found.prospects[WAITS].found) > 0.0


def test_who_has_outlived_all_others_may_run_on_for_as_long_again() -> None:
    past = [ended(f"ended-{number}", 100.0) for number in range(9)]
    found = outlook(world(*past, running("runs", NOW - 4_000), waiting()), [WAITS])
    first, last = found.prospects[WAITS].range(0.9)
    assert 0.0 < first < 1_000.0 < last


def test_who_is_first_and_fits_is_admitted_now() -> None:
    found = outlook(world(waiting()), [WAITS])
    assert found.prospects[WAITS].range(1.0) == (0.0, 0.0)


def test_more_important_newcomers_make_it_later() -> None:
    runs = running("runs", NOW - 40, max_execution_s=100)
    came = [
        waiting(f"high-{number}", priority=9, created=NOW - 90 + 10 * number, max_execution_s=50)
        for number in range(9)
    ]
    alone = outlook(world(runs, waiting()), [WAITS]).prospects[WAITS].range(0.5)
    behind = outlook(world(runs, waiting(), *came), [WAITS]).prospects[WAITS].range(0.5)
    assert behind[0] > alone[1]


def test_without_history_and_limit_it_is_unknown_and_said_why() -> None:
    told = estimate(world(running("runs", NOW - 40), waiting()), WAITS)
    assert not told.known
    assert told.text.startswith("Unknown")
    assert told.basis == (
        "1 run time unknown, without an end: no history, and no maximum execution time",
    )
    assert told.half is None


def test_what_is_told_has_ranges_within_each_other_and_says_what_it_rests_on() -> None:
    told = estimate(world(running("runs", NOW - 40, max_execution_s=100), waiting()), WAITS)
    assert told.known
    assert told.half is not None
    assert told.nearly_all is not None
    assert told.nearly_all.earliest <= told.half.earliest
    assert told.half.latest is not None
    assert told.nearly_all.latest is not None
    assert told.half.latest <= told.nearly_all.latest
    assert "drawn from a maximum execution time" in told.basis[0]
    assert told.as_of == "1970-01-01T02:46:40Z"


def test_when_time_is_over_it_is_unknown() -> None:
    past = [ended(f"ended-{number}", 1.0) for number in range(5)]
    many = [waiting(f"w{number}", created=0.5) for number in range(40)]
    told = estimate(world(*past, *many, waiting()), WAITS, enough=lambda: True)
    assert not told.known
    assert "in the time that there is" in told.text


@pytest.mark.parametrize(("draws", "wide"), [(18, False), (19, True)])
def test_nine_of_ten_is_told_only_of_enough_futures(draws: int, wide: bool) -> None:
    runs = running("runs", NOW - 40, max_execution_s=100)
    told = estimate(world(runs, waiting()), WAITS, draws=draws)
    assert told.known
    assert (told.nearly_all is not None) == wide
    assert ("nearly surely" in told.text) == wide


def test_the_future_that_time_ran_out_in_is_one_with_a_long_wait() -> None:
    ahead = [waiting(f"w{number}", created=0.5, max_execution_s=50) for number in range(9)]
    looks = iter([False, False, False, False, True])
    world_of = world(running("runs", NOW - 40, max_execution_s=100), *ahead, waiting())
    found = outlook(world_of, [WAITS], enough=lambda: next(looks))
    assert found.draws > 1
    assert [one for one in found.prospects[WAITS].found if one == inf] == [inf]


def test_the_same_facts_give_the_same_answer() -> None:
    facts = [ended(f"ended-{number}", 50.0 + 9 * number) for number in range(9)]
    one, other = (
        estimate(world(*facts, running("runs", NOW - 20), waiting()), WAITS) for _ in range(2)
    )
    assert one == other


@pytest.mark.parametrize("number", [1, 2, 7, 20])
def test_any_first_few_draws_are_spread_out_evenly(number: int) -> None:
    found = sorted(spread_out(one) for one in range(number))
    gaps = [after - before for before, after in zip([0.0, *found], [*found, 1.0], strict=True)]
    assert max(gaps) <= 2.0 / (number + 1)
