"""What is read of a Workload whose pods were given hosts, or wait for them."""

from typing import Any

import pytest

from queueing.translate.inbound.given_hosts import awaits_places, hosts_of, is_placed
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload

HOSTS = {
    "levels": ["kubernetes.io/hostname"],
    "slices": [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"individual": {"prefix": "n", "roots": ["1", "2"]}}],
            "podCounts": {"universal": 1},
        }
    ],
}
PLACED = {"name": "main", "topologyAssignment": HOSTS}
LATER = {"name": "main", "delayedTopologyRequest": "Pending"}


def workload(held: dict[str, Any] | None, *true: str, failed: tuple[str, ...] = ()) -> Workload:
    admission = {"admission": {"clusterQueue": "q", "podSetAssignments": [held]}} if held else {}
    status = {
        **admission,
        "conditions": [{"type": one, "status": "True"} for one in true],
        "unhealthyNodes": [{"name": one} for one in failed],
    }
    return read(Workload, {"metadata": {"name": "w"}, "spec": {"podSets": [{}]}, "status": status})


def test_hosts_are_told_with_the_pod_sets_that_were_given_them() -> None:
    assert hosts_of(workload(PLACED)) == {"n1": ["main"], "n2": ["main"]}


@pytest.mark.parametrize(
    ("held", "true", "want"),
    [
        pytest.param(PLACED, ["Admitted"], True, id="admitted, with places"),
        pytest.param(LATER, ["Admitted"], False, id="without places"),
        pytest.param(PLACED, [], False, id="only reserved"),
        pytest.param(PLACED, ["Admitted", "Evicted"], False, id="evicted"),
        pytest.param(PLACED, ["Admitted", "Finished"], False, id="finished"),
        pytest.param(None, ["Admitted"], False, id="without an admission"),
    ],
)
def test_a_workload_is_placed_from_its_admission_to_its_eviction(
    held: dict[str, Any] | None, true: list[str], *, want: bool
) -> None:
    assert is_placed(workload(held, *true)) is want


@pytest.mark.parametrize(
    ("found", "left", "want"),
    [
        pytest.param(workload(PLACED, failed=("n1",)), ["n1"], True, id="the node failed still"),
        pytest.param(workload(PLACED), ["n1"], False, id="the node has recovered"),
        pytest.param(workload(PLACED, failed=("n2",)), ["n1"], False, id="another node failed"),
        pytest.param(workload(LATER), [], True, id="the first places are awaited"),
        pytest.param(workload(PLACED), [], False, id="the first places are there"),
        pytest.param(workload(None), [], False, id="the quota was given back"),
        pytest.param(workload(LATER, "Evicted"), [], False, id="it leaves"),
    ],
)
def test_a_second_pass_is_written_only_for_what_it_was_decided(
    found: Workload, left: list[str], *, want: bool
) -> None:
    assert awaits_places(found, left) is want
