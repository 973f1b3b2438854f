from dataclasses import replace

import pytest

from bench.history import Event, What
from bench.load import LOADS, THIRD, schedule
from bench.preemption_report import AIMS, AIMS_ALONE, quotients, report
from bench.results import Result

WORLD = replace(LOADS[THIRD], queues=6)
ITEMS = [item for item in schedule(WORLD, 0.001) if item.queue == "queue-000"]
"""One of each class: 1, 5 and 20 CPUs."""
SMALL, MEDIUM, LARGE = "small-000-0000", "medium-000-0000", "large-000-0000"
EVENTS = [
    Event(0.0, What.CREATED, SMALL),
    Event(0.0, What.ADMITTED, SMALL),
    Event(1.0, What.CREATED, LARGE),
    Event(1.0, What.CREATED, MEDIUM),
    Event(2.0, What.ADMITTED, MEDIUM, decided=1.5),
    Event(2.4, What.EVICTED, MEDIUM, LARGE),
    Event(3.0, What.EVICTED, SMALL, LARGE),
    Event(4.0, What.RELEASED, SMALL),
    Event(4.0, What.RELEASED, MEDIUM),
    Event(4.0, What.ADMITTED, LARGE),
    Event(6.0, What.FINISHED, LARGE),
    Event(6.0, What.ADMITTED, MEDIUM),
    Event(6.0, What.ADMITTED, SMALL),
    Event(8.0, What.FINISHED, SMALL),
    Event(8.0, What.EVICTED, SMALL, LARGE),
    Event(10.0, What.FINISHED, MEDIUM),
]
NUMBERS = report(WORLD, ITEMS, EVENTS)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("workloads", 3),
        ("seconds", 10.0),
        ("evictions", 2),
        ("evictions of small", 1),
        ("evictions of medium", 1),
        ("evictions of large", 0),
        ("evictions of one workload, most", 1),
        ("evictions of what had finished", 1),
        ("avoidable evictions", 1),
        ("avoidable by a second or more", 1),
        ("avoidable, % of evictions", 50.0),
        ("avoidable by what was known", 1),
        ("avoidable by what was known, % of evictions", 50.0),
        ("admissions of which it is not known when they were decided", 4),
        # They run for 0.2 and 0.5 s; then they only waited for their ends to be written.
        ("run time thrown away, s", 0.2 + 0.4),
        ("run time thrown away, CPU s", 0.2 * 1 + 0.4 * 5),
        # Large: three seconds; medium: one, then two; small: two.
        ("quota idle though it was asked for, CPU s", 3 * 20 + 1 * 5 + 2 * 5 + 2 * 1),
        ("quota held, %", 100 * (4 * 1 + 2 * 5 + 2 * 20 + 2 * 1 + 4 * 5) / (6 * 20 * 10)),
        ("wait of large until first admitted, mean s", 3.0),
        ("wait of medium until first admitted, longest s", 1.0),
        ("wait of medium until last admitted, longest s", 5.0),
        ("wait of small until last admitted, mean s", 6.0),
    ],
)
def test_the_report_of_a_run_says_what_was_lost_and_who_waited(name: str, want: float) -> None:
    assert NUMBERS[name] == pytest.approx(want)


def test_what_is_aimed_at_is_reported() -> None:
    told = {*NUMBERS, "CPU of queueing, s"}
    assert {*AIMS, *AIMS_ALONE} <= told


def test_modes_are_compared_by_the_medians_of_their_turns() -> None:
    def turn(seconds: float, evictions: int) -> Result:
        numbers = {"workloads": 10, "seconds": seconds, "evictions": evictions}
        return Result(scenario="i, a turn", numbers=numbers)

    ours = [turn(1.0, 5), turn(90.0, 7), turn(3.0, 9)]
    kueues = [turn(2.0, 0), turn(2.0, 0), turn(1.0, 1)]
    assert quotients(ours, kueues).numbers == {"seconds": 1.5}
