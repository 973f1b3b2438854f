"""The bookkeeping of scenario (i), on runs of a handful of events."""

import pytest

from bench.history import (
    Event,
    What,
    evictions,
    last_admissions,
    quota,
    waits,
    with_decisions,
)
from bench.load import Item, Load, Size

CREATED, ADMITTED, EVICTED = What.CREATED, What.ADMITTED, What.EVICTED
RELEASED, FINISHED = What.RELEASED, What.FINISHED
LARGE_STOPS_SMALL = [
    Event(3.0, EVICTED, "small", "large"),
    Event(3.5, RELEASED, "small"),
    Event(4.0, ADMITTED, "large"),
]


@pytest.mark.parametrize(
    ("before", "ahead_s"),
    [
        pytest.param(
            [
                Event(0.0, CREATED, "large"),
                Event(0.5, CREATED, "small"),
                Event(2.0, ADMITTED, "small"),
            ],
            2.0,
            id="the preemptor was there first",
        ),
        pytest.param(
            [
                Event(0.0, CREATED, "small"),
                Event(1.0, ADMITTED, "small"),
                Event(2.0, CREATED, "large"),
            ],
            None,
            id="the preemptor came while its victim ran",
        ),
        pytest.param(
            [
                Event(0.0, CREATED, "large"),
                Event(0.0, CREATED, "small"),
                Event(0.5, ADMITTED, "large"),
                Event(1.0, ADMITTED, "small"),
                Event(1.5, EVICTED, "large", "larger"),
                Event(2.0, RELEASED, "large"),
            ],
            None,
            id="the preemptor ran when its victim was admitted",
        ),
        pytest.param(
            [
                Event(0.0, CREATED, "large"),
                Event(0.0, CREATED, "small"),
                Event(0.5, ADMITTED, "large"),
                Event(1.0, EVICTED, "large", "larger"),
                Event(1.5, RELEASED, "large"),
                Event(2.0, ADMITTED, "small"),
            ],
            0.5,
            id="the preemptor was stopped itself and pending again",
        ),
        pytest.param(
            [
                Event(1.0, CREATED, "small"),
                Event(1.0, ADMITTED, "small"),
                Event(1.0, CREATED, "large"),
            ],
            None,
            id="the order of events decides, where times are equal",
        ),
    ],
)
def test_an_eviction_is_avoidable_if_its_preemptor_was_pending_when_the_victim_was_admitted(
    before: list[Event], ahead_s: float | None
) -> None:
    stopped = evictions([*before, *LARGE_STOPS_SMALL])[-1]
    assert stopped.ahead_s == ahead_s
    assert stopped.avoidable == (ahead_s is not None)


@pytest.mark.parametrize(
    ("decided", "known"),
    [
        pytest.param([1.5], True, id="decided after the preemptor was seen"),
        pytest.param([0.9], False, id="on its way when the preemptor came"),
        pytest.param([1.5, 1.6], False, id="the log does not tell when"),
    ],
)
def test_an_eviction_is_known_to_be_avoidable_by_when_the_admission_was_decided(
    decided: list[float], known: bool
) -> None:
    events = [
        Event(0.5, CREATED, "small"),
        Event(1.0, CREATED, "large"),
        Event(2.0, ADMITTED, "small"),
        *LARGE_STOPS_SMALL,
    ]
    [found] = evictions(with_decisions(events, {"small": decided, "large": [3.6]}))
    assert (found.avoidable, found.known) == (True, known)


def test_an_eviction_tells_how_long_its_victim_had_been_admitted_each_time_anew() -> None:
    told = evictions(
        [
            Event(0.0, CREATED, "small"),
            Event(1.0, ADMITTED, "small"),
            Event(2.0, CREATED, "large"),
            *LARGE_STOPS_SMALL,
            Event(5.0, FINISHED, "large"),
            Event(6.0, ADMITTED, "small"),
            Event(6.5, EVICTED, "small", "larger"),
        ]
    )
    assert [(one.victim, one.preemptor, one.ran_s) for one in told] == [
        ("small", "large", 2.0),
        ("small", "larger", 0.5),
    ]


def test_an_eviction_of_what_has_finished_is_late_and_loses_nothing() -> None:
    told = evictions(
        [
            Event(0.0, CREATED, "small"),
            Event(1.0, ADMITTED, "small"),
            Event(2.0, FINISHED, "small"),
            Event(3.0, EVICTED, "small", "large"),
        ]
    )
    assert [(one.late, one.ran_s) for one in told] == [(True, 0.0)]


def test_an_eviction_of_what_was_only_about_to_be_admitted_loses_nothing() -> None:
    events = [
        Event(0.0, CREATED, "small"),
        Event(0.0, CREATED, "large"),
        Event(1.0, EVICTED, "small", "large"),
    ]
    [found] = evictions(events)
    assert (found.ran_s, found.ahead_s, found.late) == (0.0, None, False)


ADMITTED_TWICE = [
    Event(1.0, CREATED, "small"),
    Event(1.0, CREATED, "never"),
    Event(3.0, ADMITTED, "small"),
    Event(4.0, EVICTED, "small", "large"),
    Event(4.5, RELEASED, "small"),
    Event(7.0, ADMITTED, "small"),
]


def test_a_workload_waits_from_its_creation_to_its_first_and_to_its_last_admission() -> None:
    found = waits(ADMITTED_TWICE)
    assert (dict(found.first), dict(found.last)) == ({"small": 2.0}, {"small": 6.0})


def test_the_picture_shows_each_workload_once() -> None:
    assert last_admissions(ADMITTED_TWICE) == [7.0]


def load(*, borrowing: int = 100, queues: int = 2) -> Load:
    """Return cohorts of two queues of ten CPUs each."""
    sizes = (Size(name="any", count=1, cpu=1, runs_s=1.0, every_s=1.0),)
    return Load(queues=queues, per_cohort=2, nominal=10, borrowing=borrowing, sizes=sizes)


def item(name: str, cpu: int, queue: int = 0) -> Item:
    return Item(name=name, queue=f"queue-{queue:03}", at=0.0, cpu=cpu, runs_s=1.0)


def created(items: list[Item]) -> list[Event]:
    return [Event(0.0, CREATED, one.name) for one in items]


@pytest.mark.parametrize(
    ("world", "items", "idle"),
    [
        pytest.param(load(), [item("a", 4)], 4.0, id="no more than is asked for"),
        pytest.param(
            load(), [item("a", 15), item("b", 6)], 15.0, id="largest first, and what fits beside"
        ),
        pytest.param(load(), [item("a", 15), item("b", 5)], 20.0, id="no more than the cohort has"),
        pytest.param(load(), [item("a", 21)], 0.0, id="nothing for what does not fit"),
        pytest.param(
            load(borrowing=2), [item("a", 10), item("b", 10)], 10.0, id="as far as it may borrow"
        ),
        pytest.param(
            load(queues=4),
            [item("a", 21, queue=0), item("b", 3, queue=2)],
            3.0,
            id="each cohort for itself",
        ),
    ],
)
def test_quota_is_idle_as_far_as_pending_workloads_could_hold_it(
    world: Load, items: list[Item], idle: float
) -> None:
    end = [Event(1.0, CREATED, items[0].name)]
    assert quota(world, items, created(items) + end).idle == idle


def test_quota_is_held_from_admission_until_it_is_released_or_the_end() -> None:
    items = [item("a", 10), item("b", 10), item("c", 20)]
    found = quota(
        load(),
        items,
        [
            *created(items),
            Event(1.0, ADMITTED, "a"),
            Event(1.0, ADMITTED, "b"),
            Event(2.0, EVICTED, "a", "c"),
            Event(2.0, EVICTED, "b", "c"),
            Event(3.0, RELEASED, "a"),
            Event(4.0, RELEASED, "b"),
            Event(4.0, ADMITTED, "c"),
            Event(6.0, FINISHED, "c"),
        ],
    )
    assert found.held == 2 * 20 + 10 + 2 * 20
    # Everything for a second, and half of it while one of two victims was gone.
    assert found.idle == 20 + 10


def test_a_late_eviction_frees_nothing_twice() -> None:
    items = [item("a", 10), item("b", 10)]
    found = quota(
        load(),
        items,
        [
            *created(items),
            Event(0.0, ADMITTED, "a"),
            Event(0.0, ADMITTED, "b"),
            Event(1.0, FINISHED, "a"),
            Event(2.0, EVICTED, "a", "b"),
            Event(3.0, FINISHED, "b"),
        ],
    )
    assert (found.held, found.idle) == (20 + 2 * 10, 0.0)
