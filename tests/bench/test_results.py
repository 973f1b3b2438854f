import json
from pathlib import Path

import pytest

from bench.results import Result, beside, percentile, table, write


@pytest.mark.parametrize(
    ("values", "share", "want"),
    [
        pytest.param([], 0.99, 0.0, id="nothing"),
        pytest.param([3.0], 0.99, 3.0, id="one value"),
        pytest.param([4.0, 1.0, 3.0, 2.0], 0.5, 2.0, id="the lower middle"),
        pytest.param([float(n) for n in range(1, 101)], 0.99, 99.0, id="of a hundred"),
        pytest.param([float(n) for n in range(1, 101)], 1.0, 100.0, id="the largest"),
    ],
)
def test_percentile_is_the_nearest_rank(values: list[float], share: float, want: float) -> None:
    assert percentile(values, share) == want


def test_results_are_a_table_a_file_and_a_picture(tmp_path: Path) -> None:
    result = Result(
        scenario="x",
        numbers={"seconds": 2.0, "workloads": 1500},
        admissions=[0.5, 1.0],
        curves={"floor": [0.1]},
        aims={"seconds": "under 3"},
    )
    write([result], tmp_path)
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["results"][0]["numbers"] == {"seconds": 2.0, "workloads": 1500}
    assert document["results"][0]["aims"] == {"seconds": "under 3"}
    assert document["machine"]["cpus"] > 0
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert table([result]).splitlines() == [
        "x",
        "  seconds             2.000  (aim: under 3)",
        "  workloads       1,500",
    ]


def test_results_that_are_compared_stand_in_columns() -> None:
    results = [
        Result(scenario="x, one", numbers={"seconds": 2.0, "workloads": 1500}),
        Result(scenario="x, two, again", numbers={"seconds": 4.0}, aims={"seconds": "under 3"}),
    ]
    assert beside(results).splitlines() == [
        "x",
        "                        one           two",
        "                                    again",
        "  seconds             2.000         4.000  (aim: under 3)",
        "  workloads       1,500",
    ]
