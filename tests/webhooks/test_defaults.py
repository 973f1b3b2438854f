"""What is filled in at creation."""

from typing import Any

import jsonpatch
import pytest

from queueing.webhooks.jobs import QUEUE, DefaultingContext, default_job
from queueing.webhooks.pod_gates import gated
from queueing.webhooks.rules import has_managed_owner
from queueing.webhooks.workloads import default_workload
from tests.webhooks.table import Default, defaults, filled_in


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in defaults()])
def test_a_job_or_a_pod_at_creation(row: Default) -> None:
    around = DefaultingContext(**row.around, owner_managed=has_managed_owner(row.job))
    if row.job["kind"] == "Pod":
        made = jsonpatch.apply_patch(row.job, list(gated(row.job, around)))
    else:
        made = default_job(row.job, around)
    assert filled_in(made) == row.want


def test_a_job_is_not_changed_in_place() -> None:
    original: dict[str, Any] = {
        "metadata": {"name": "a", "labels": {QUEUE: "door"}},
        "spec": {"parallelism": 1},
    }
    default_job(original, DefaultingContext())
    assert "suspend" not in original["spec"]


def test_pod_sets_are_named_in_lower_case() -> None:
    got = default_workload({"spec": {"podSets": [{"count": 1}]}})
    assert got["spec"]["podSets"][0]["name"] == "main"
