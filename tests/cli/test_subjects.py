from typing import Any

import pytest

from queueing.cli.subjects import is_meant, named

SLICE = {"kueue.x-k8s.io/workload-slice-name": "job-sweep-1f0a2"}


def workload(reason: str = "", annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """Return a Workload of the Job `sweep`, finished for a reason if one is given."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "sweep", "uid": "u"}
    end = [{"type": "Finished", "status": "True", "reason": reason}] if reason else []
    return {
        "metadata": {
            "name": "job-sweep-1f0a2",
            "annotations": annotations or {},
            "ownerReferences": [owner],
        },
        "status": {"conditions": end},
    }


@pytest.mark.parametrize(
    ("words", "found", "meant"),
    [
        pytest.param(["job/sweep"], workload(), True, id="by its job"),
        pytest.param(["jobset/sweep"], workload(), False, id="by a job of another kind"),
        pytest.param(["sweep"], workload("Succeeded"), True, id="by a job that has ended"),
        pytest.param(["sweep"], workload("Succeeded", SLICE), True, id="by an elastic job's end"),
        pytest.param(["sweep"], workload("WorkloadSliceReplaced", SLICE), False, id="replaced"),
        pytest.param(["sweep"], workload("OutOfSync", SLICE), False, id="wanted no more"),
        pytest.param(["sweep"], workload("OutOfSync"), True, id="prebuilt, and out of sync"),
        pytest.param(
            ["workload", "job-sweep-1f0a2"],
            workload("WorkloadSliceReplaced", SLICE),
            True,
            id="replaced, by its own name",
        ),
    ],
)
def test_a_workload_is_meant(words: list[str], found: dict[str, Any], *, meant: bool) -> None:
    assert is_meant(named(words), found) is meant
