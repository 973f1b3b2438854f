"""The search for the largest demand that fits."""

import pytest

from queueing.core.flavors.partial import largest_that_fits
from queueing.core.usage import Demand, demand_of
from queueing.testing.builders import pod_set, workload


def demand(*pods: tuple[int, int | None]) -> Demand:
    pod_sets = tuple(
        pod_set(count=count, name=f"set-{number}", min_count=least)
        for number, (count, least) in enumerate(pods)
    )
    return demand_of(workload(pod_sets=pod_sets))


@pytest.mark.parametrize(
    ("pods", "fits_up_to", "want"),
    [
        pytest.param([(10, 2)], 10, [10], id="all"),
        pytest.param([(10, 2)], 7, [7], id="some"),
        pytest.param([(10, 2)], 2, [2], id="the minimum"),
        pytest.param([(10, 2)], 1, None, id="less than the minimum"),
        pytest.param([(4, None), (6, 2)], 7, [4, 3], id="a fixed set stays whole"),
        pytest.param([(10, 5), (20, 10)], 24, [8, 16], id="sets shrink together"),
    ],
)
def test_the_largest_that_fits(
    pods: list[tuple[int, int | None]], fits_up_to: int, want: list[int] | None
) -> None:
    def judge(asked: Demand) -> list[int] | None:
        counts = [one.count for one in asked.pod_sets]
        return counts if sum(counts) <= fits_up_to else None

    assert largest_that_fits(demand(*pods), judge) == want


def test_it_asks_only_as_often_as_a_binary_search() -> None:
    asked: list[int] = []

    def judge(one: Demand) -> bool | None:
        asked.append(one.pod_sets[0].count)
        return True if one.pod_sets[0].count <= 333 else None

    assert largest_that_fits(demand((1_000, 1)), judge)
    assert len(asked) <= 11
    assert max(count for count in asked if count <= 333) == 333
