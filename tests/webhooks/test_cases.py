"""The table of what is refused and why, against the pure functions."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.webhooks.cluster_queues import check_cluster_queue, check_cohort
from queueing.webhooks.findings import Finding
from queueing.webhooks.flavors import (
    check_admission_check,
    check_flavor,
    check_local_queue,
    check_topology,
)
from queueing.webhooks.jobs import check_job
from queueing.webhooks.workloads import check_workload

CHECKS: dict[str, Callable[..., list[Finding]]] = {
    "ClusterQueue": lambda new, _old: check_cluster_queue(new),
    "Cohort": lambda new, _old: check_cohort(new),
    "ResourceFlavor": check_flavor,
    "Topology": check_topology,
    "LocalQueue": check_local_queue,
    "AdmissionCheck": check_admission_check,
    "Workload": check_workload,
    "Job": check_job,
}


def merged(base: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def rows() -> list[Any]:
    tables = (
        yaml.safe_load(file.read_text())
        for file in sorted((Path(__file__).parent / "cases").glob("*.yaml"))
    )
    return [
        pytest.param(table, case, id=f"{table['kind']}: {case['id']}")
        for table in tables
        for case in table["cases"]
    ]


@pytest.mark.parametrize(("table", "case"), rows())
def test_what_is_refused_says_why(table: dict[str, Any], case: dict[str, Any]) -> None:
    new = merged(table["base"], case.get("set", {}))
    old = merged(table["base"], case["old"]) if "old" in case else None
    found = CHECKS[table["kind"]](new, old, **case.get("around", {}))
    told = "\n".join(map(str, found))
    if "says" in case:
        assert case["says"] in told
    else:
        assert told == ""


def test_the_table_is_large_enough_to_be_called_one() -> None:
    assert len(rows()) >= 120
