"""How the pods of an elastic job stand to what its admitted slice is for."""

from typing import Any

import msgspec
import pytest

from queueing.translate.jobs.slice_pods import SlicePod, cover
from queueing.translate.wire.workloads import Workload

SLICE = msgspec.convert(
    {
        "metadata": {
            "name": "ray-1",
            "namespace": "crew",
            "annotations": {
                "kueue.x-k8s.io/elastic-job": "true",
                "kueue.x-k8s.io/workload-slice-name": "ray",
            },
        },
        "spec": {
            "podSets": [{"name": "workers", "count": 3, "template": {"spec": {"containers": []}}}]
        },
    },
    Workload,
)


def pod(name: str, *, gated: bool = False, **meta: Any) -> SlicePod:
    gates = [{"name": "kueue.x-k8s.io/elastic-job"}] if gated else []
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "crew",
                "labels": {"kueue.x-k8s.io/podset": "workers"},
                "annotations": {"kueue.x-k8s.io/workload-slice-name": "ray"},
                **meta,
            },
            "spec": {"schedulingGates": gates},
            "status": {"phase": "Pending" if gated else "Running"},
        },
        SlicePod,
    )


RUNNING = [pod("a"), pod("b")]
LEAVING = pod("c", deletionTimestamp="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("pods", "due", "lacks"),
    [
        pytest.param([*RUNNING, pod("c")], [], False, id="as many as it is for"),
        pytest.param(RUNNING, [], True, id="one is not made yet"),
        pytest.param([*RUNNING, pod("c", gated=True)], ["c"], False, id="one waits"),
        pytest.param([*RUNNING, LEAVING], [], True, id="one leaves, and another will be made"),
        pytest.param(
            [*RUNNING, LEAVING, pod("d", gated=True)], [], True, id="one waits for one to leave"
        ),
    ],
)
def test_a_slice_lets_as_many_pods_go_as_it_is_for(
    pods: list[SlicePod], due: list[str], *, lacks: bool
) -> None:
    found = cover(SLICE, pods)
    assert [one.metadata.name for one in found.due] == due
    assert found.lacks == lacks
