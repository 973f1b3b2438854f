"""What templates draw: bars, timelines and columns, from values to values."""

from typing import Any

import msgspec
import pytest

from queueing.explain.domain_model import Domain
from queueing.serving.ui.bars import bars
from queueing.serving.ui.columns import balances, usage_chart
from queueing.serving.ui.devices import HIDDEN, by_node
from queueing.serving.ui.seats import seated
from queueing.serving.ui.timeline import moments, seconds, span, stretches
from tests.serving.ui.samples import domain, row, seat


def segments(**changes: str) -> list[tuple[str, float, float]]:
    (bar,) = bars([row(**changes)])
    return [(one.kind, one.begin, one.length) for one in bar.segments]


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        pytest.param(
            {"used": "4", "borrowed": "0"},
            [("used", 0, 40), ("free", 40, 60)],
            id="within its own quota",
        ),
        pytest.param(
            {"used": "20", "borrowed": "10"},
            [("used", 0, 50), ("borrowed", 50, 50)],
            id="borrowing as much as it owns",
        ),
        pytest.param(
            {"used": "2", "borrowed": "0", "lent": "3", "promised": "1"},
            [("used", 0, 20), ("promised", 20, 10), ("lent", 30, 30), ("free", 60, 40)],
            id="lending and promised",
        ),
        pytest.param({"nominal": "0", "used": "0", "borrowed": "0"}, [], id="without quota"),
    ],
)
def test_a_bar_has_a_part_for_each_use_of_quota(
    changes: dict[str, str], want: list[tuple[str, float, float]]
) -> None:
    assert segments(**changes) == want


def test_bars_of_one_resource_have_one_scale() -> None:
    small, large = bars([row(nominal="5", used="5", borrowed="0"), row(nominal="10", used="0")])
    assert [one.length for one in small.segments] == [50]
    assert (small.nominal_at, large.nominal_at) == (50, 100)


def test_a_bar_says_in_words_what_it_shows() -> None:
    (bar,) = bars([row()])
    assert bar.text == "12 of 10 used, 2 borrowed"


def test_a_workload_has_one_colour_in_all_racks_and_many_small_ones_share_one() -> None:
    small = [seat(f"team/s{number}", 1) for number in range(7)]
    racks = [
        domain("r1", seat("team/gang", 5), seat("team/old", 3, leaving=True), fits=2),
        domain("r2", *small, seat("team/gang", 5), in_all=20),
    ]
    first, second = seated(racks)
    assert [(one.kind, one.begin, one.length) for one in first.segments] == [
        ("series0", 0, 46.88),
        ("series1 leaving", 46.88, 28.12),
        ("free", 75, 25),
    ]
    assert not first.has_others
    assert [one.kind for one in second.sitting] == [
        *(f"series{min(number, 6)}" for number in range(2, 9)),
        "series0",
    ]
    assert (first.more, second.more) == (0, 12)


NO_DEVICES = {"uses": {"nvidia.com/gpu": "0"}}


@pytest.mark.parametrize(
    ("rack", "want"),
    [
        pytest.param(
            domain("r", seat("a", 2, uses={"nvidia.com/gpu": "4"}), fits=4),
            [("series0", 0, 50), ("free", 50, 50)],
            id="two pods with two devices each",
        ),
        pytest.param(
            domain("r", seat("cpu", 9, **NO_DEVICES), seat("a", 2), fits=4),
            [("series1", 0, 25), ("others", 25, 25), ("free", 50, 50)],
            id="pods without devices, and others",
        ),
        pytest.param(domain("r", fits=6), [("others", 0, 25), ("free", 25, 75)], id="only others"),
        pytest.param(
            domain("r", seat("a", 2, uses={}), fits=6),
            [("others", 0, 25), ("free", 25, 75)],
            id="it is not known what a workload uses",
        ),
        pytest.param(
            domain("r", seat("a", 9), seat("b", 3), fits=-4),
            [("series0", 0, 75), ("series1", 75, 25)],
            id="more is used than is there",
        ),
    ],
)
def test_a_rack_has_a_part_for_what_each_uses_of_its_devices(
    rack: Domain, want: list[tuple[str, float, float]]
) -> None:
    (found,) = seated([rack])
    assert [(one.kind, one.begin, one.length) for one in found.segments] == want


def test_an_empty_rack_without_room_has_an_empty_bar() -> None:
    (one,) = seated([msgspec.structs.replace(domain("r1"), room={"nvidia.com/gpu": "0"})])
    assert (one.segments, one.sitting) == ((), ())


def workload(*conditions: tuple[str, str, int]) -> dict[str, Any]:
    return {
        "metadata": {"creationTimestamp": "2026-01-31T12:00:00Z"},
        "status": {
            "conditions": [
                {
                    "type": name,
                    "status": status,
                    "reason": "Because",
                    "message": "of this",
                    "lastTransitionTime": f"2026-01-31T12:{minute:02}:00Z",
                }
                for name, status, minute in conditions
            ]
        },
    }


def test_a_timeline_tells_conditions_and_events_in_the_order_of_time() -> None:
    events = [
        {
            "reason": "Pending",
            "message": "too much",
            "lastTimestamp": "2026-01-31T12:01:00Z",
            "count": 3,
        }
    ]
    made = workload(("Admitted", "True", 5), ("QuotaReserved", "True", 4))
    found = moments(made, events)
    assert [(one.after, one.title) for one in found] == [
        ("0 s", "Created"),
        ("1 min", "Pending"),
        ("4 min", "QuotaReserved"),
        ("5 min", "Admitted"),
    ]
    assert [one.text for one in found[1:3]] == ["too much (3 times)", "Because: of this"]


def test_an_event_that_says_what_a_condition_says_is_told_once() -> None:
    event = {"reason": "Admitted", "message": "", "eventTime": "2026-01-31T12:05:00.000000Z"}
    found = moments(workload(("Admitted", "True", 5)), [event])
    assert [one.title for one in found] == ["Created", "Admitted"]


def test_a_life_is_divided_into_waiting_starting_and_running() -> None:
    made = workload(
        ("QuotaReserved", "True", 5),
        ("Admitted", "True", 5),
        ("PodsReady", "True", 6),
        ("Finished", "True", 10),
    )
    found = stretches(made, now=9e9)
    assert [(one.name, one.begin, one.length, one.lasted) for one in found] == [
        ("waits", 0, 50, "5 min"),
        ("starts", 50, 10, "1 min"),
        ("runs", 60, 40, "4 min"),
    ]


def test_who_still_waits_has_waited_until_now() -> None:
    now = seconds("2026-01-31T13:00:00Z")
    assert now is not None
    found = stretches(workload(("QuotaReserved", "False", 5)), now)
    assert [(one.name, one.lasted) for one in found] == [("waits", "1 h")]


@pytest.mark.parametrize(
    ("lasted", "want"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3_661, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_a_length_of_time_has_two_units(lasted: float, want: str) -> None:
    assert span(lasted) == want


def record(hour: int, rows: list[dict[str, str]], resolution: str = "Hour") -> dict[str, Any]:
    spec = {
        "root": {"kind": "Cohort", "name": "lab"},
        "resolution": resolution,
        "start": f"2026-01-31T{hour:02}:00:00Z",
        "end": f"2026-01-31T{hour + 1:02}:00:00Z",
    }
    return {"spec": spec, "status": {"rows": rows}}


def used(queue: str, local: str, amount: int) -> dict[str, str]:
    return {
        "resource": "nvidia.com/gpu",
        "flavor": "a100",
        "clusterQueue": queue,
        "localQueue": local,
        "used": str(amount),
    }


def test_usage_is_the_mean_in_each_hour_and_the_sum_of_all() -> None:
    records = [
        record(9, [used("a", "team/a", 7_200), used("b", "team/b", 3_600), used("a", "", 7_200)]),
        record(10, [used("b", "team/b", 3_600)]),
    ]
    chart = usage_chart(records, resource="", by="queue")
    assert (chart.resource, chart.highest) == ("nvidia.com/gpu", "3")
    assert chart.totals == (("a", 2.0), ("b", 2.0))
    assert [(one.total, len(one.parts)) for one in chart.columns] == [(3.0, 2), (1.0, 1)]


def test_usage_may_be_told_by_namespace() -> None:
    chart = usage_chart([record(9, [used("a", "x/q", 3_600)])], resource="", by="namespace")
    assert chart.names == ("x",)


def test_without_records_there_is_no_chart() -> None:
    assert usage_chart([], resource="cpu", by="queue").columns == ()


def test_debt_and_credit_are_drawn_from_the_middle() -> None:
    account = {
        "spec": {"cohortName": "lab"},
        "status": {
            "children": [
                {"kind": "ClusterQueue", "name": "a", "balance": "2 GPUh", "microCredits": 20},
                {"kind": "ClusterQueue", "name": "b", "balance": "-1 GPUh", "microCredits": -10},
            ]
        },
    }
    found = balances(account)
    drawn = [(one.begin, one.length, one.is_debt) for one in found["children"]]
    assert drawn == [(50, 50, False), (25, 25, True)]


def slices(generation: int, *names: str) -> dict[str, Any]:
    pool = {"name": "node-1", "generation": generation}
    devices = [{"name": name} for name in names]
    return {"spec": {"driver": "gpu", "nodeName": "node-1", "pool": pool, "devices": devices}}


CLAIM = {
    "metadata": {"namespace": "team", "name": "claim"},
    "status": {
        "allocation": {
            "devices": {"results": [{"driver": "gpu", "pool": "node-1", "device": "gpu-2"}]}
        }
    },
}


@pytest.mark.parametrize(("named", "want"), [(True, "team/claim"), (False, HIDDEN)])
def test_a_device_is_told_with_who_holds_it(named: bool, want: str) -> None:
    old, new = slices(1, "gone"), slices(2, "gpu-10", "gpu-2")
    (found,) = by_node([old, new], [CLAIM], named=named)
    assert [(one.name, one.holders) for one in found.devices] == [
        ("gpu-2", (want,)),
        ("gpu-10", ()),
    ]
    assert found.free == 1
