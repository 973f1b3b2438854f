"""What the client of scenario (i) makes of the versions of a Workload."""

import pytest

from bench.history import What
from bench.runner import changes
from queueing.translate.wire.meta import Condition
from queueing.translate.wire.workloads import EvictionCount, SchedulingStats, WorkloadStatus


def status(*true: str, evictions: int = 0) -> WorkloadStatus:
    counted = [EvictionCount(reason="Preempted", count=evictions)] if evictions else []
    return WorkloadStatus(
        conditions=[Condition(type=one, status="True") for one in true],
        scheduling_stats=SchedulingStats(evictions=counted),
    )


NEW = status()
RUNS = status("QuotaReserved", "Admitted")
STOPS = status("QuotaReserved", "Admitted", "Evicted", evictions=1)
WAITS_AGAIN = status("Evicted", "Requeued", evictions=1)
RUNS_AGAIN = status("QuotaReserved", "Admitted", evictions=1)
ENDED = status("QuotaReserved", "Admitted", "Finished")


@pytest.mark.parametrize(
    ("before", "now", "want"),
    [
        pytest.param(None, NEW, [What.CREATED], id="created"),
        pytest.param(NEW, status("Requeued"), [], id="nothing that counts"),
        pytest.param(NEW, RUNS, [What.ADMITTED], id="admitted"),
        pytest.param(RUNS, STOPS, [What.EVICTED], id="evicted"),
        pytest.param(STOPS, WAITS_AGAIN, [What.RELEASED], id="released"),
        pytest.param(WAITS_AGAIN, RUNS_AGAIN, [What.ADMITTED], id="admitted again"),
        pytest.param(
            RUNS_AGAIN,
            status("QuotaReserved", "Admitted", "Evicted", evictions=2),
            [What.EVICTED],
            id="evicted again",
        ),
        pytest.param(RUNS, ENDED, [What.FINISHED], id="finished"),
        pytest.param(
            STOPS,
            status("QuotaReserved", "Admitted", "Evicted", "Finished", evictions=1),
            [What.FINISHED],
            id="finished while it was being stopped",
        ),
        pytest.param(
            ENDED,
            status("QuotaReserved", "Admitted", "Finished", "Evicted", evictions=1),
            [What.EVICTED],
            id="evicted after its end",
        ),
        pytest.param(
            status("QuotaReserved", "Admitted", "Finished", "Evicted", evictions=1),
            status("Finished", "Evicted", evictions=1),
            [],
            id="released after its end",
        ),
    ],
)
def test_a_change_is_what_differs_between_two_versions(
    before: WorkloadStatus | None, now: WorkloadStatus, want: list[What]
) -> None:
    assert list(changes(before, now)) == want
