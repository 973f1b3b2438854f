"""Rows of usage become fewer and coarser, and their sums stay."""

import pytest

from queueing.core.credits.facts import Member, RowName, UsageRow
from queueing.core.credits.folding import OTHERS, Resolution, bounded
from queueing.core.names import FlavorName, FlavorResource, ResourceName

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
NOON = 1_700_000_000
"""2023-11-14T22:13:20Z."""


def test_too_many_users_become_one_and_the_sum_stays() -> None:
    queue = Member("ClusterQueue", "a")
    rows = [
        UsageRow(name=RowName(queue, f"team-{one % 3}/q", f"user-{one}", CPU), used=one)
        for one in range(100)
    ]
    assert bounded(rows, 100) == sorted(rows, key=lambda one: one.name)
    folded = bounded(rows, 50)
    assert [one.name.user for one in folded] == [OTHERS] * 3
    assert len(bounded(rows, 2)) == 1
    assert sum(one.used for one in folded) == sum(one.used for one in rows)


@pytest.mark.parametrize(
    ("resolution", "seconds", "coarser"),
    [
        pytest.param(Resolution.HOUR, 3600, Resolution.DAY, id="hour"),
        pytest.param(Resolution.DAY, 24 * 3600, Resolution.MONTH, id="day"),
        pytest.param(Resolution.MONTH, 30 * 24 * 3600, None, id="month"),
    ],
)
def test_hours_become_days_days_become_months_and_months_go(
    resolution: Resolution, seconds: int, coarser: Resolution | None
) -> None:
    begin, end = resolution.span(NOON)
    assert begin <= NOON < end
    assert end - begin == seconds
    assert resolution.coarser is coarser
