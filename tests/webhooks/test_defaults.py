"""What is filled in at creation."""

from typing import Any

import pytest

from queueing.webhooks.jobs import PRIORITY_CLASS, QUEUE, Surroundings, default_job
from queueing.webhooks.workloads import default_workload


def job(**labels: str) -> dict[str, Any]:
    return {"metadata": {"name": "a", "labels": labels}, "spec": {"parallelism": 1}}


@pytest.mark.parametrize(
    ("labels", "around", "want"),
    [
        pytest.param({QUEUE: "door"}, {}, ({QUEUE: "door"}, True), id="a queued job is suspended"),
        pytest.param({}, {}, ({}, None), id="a job without a queue is left alone"),
        pytest.param(
            {}, {"manage_without_queue": True}, ({}, True), id="every job is managed if so told"
        ),
        pytest.param(
            {},
            {"manage_without_queue": True, "owner_managed": True},
            ({}, None),
            id="the child of a managed owner is left alone",
        ),
        pytest.param(
            {},
            {"default_local_queue": True},
            ({QUEUE: "default"}, True),
            id="a default queue takes jobs without one",
        ),
        pytest.param(
            {QUEUE: "door"},
            {"default_local_queue": True},
            ({QUEUE: "door"}, True),
            id="a default queue leaves other queues' jobs alone",
        ),
        pytest.param(
            {},
            {"default_local_queue": True, "owner_managed": True},
            ({}, None),
            id="a default queue does not take children",
        ),
        pytest.param(
            {QUEUE: "door"},
            {"default_priority_class": True},
            ({QUEUE: "door", PRIORITY_CLASS: "default"}, True),
            id="a default class is given",
        ),
        pytest.param(
            {QUEUE: "door", PRIORITY_CLASS: "high"},
            {"default_priority_class": True},
            ({QUEUE: "door", PRIORITY_CLASS: "high"}, True),
            id="a default class replaces none",
        ),
        pytest.param(
            {QUEUE: "door"},
            {"namespace_managed": False},
            ({QUEUE: "door"}, None),
            id="another namespace is left alone",
        ),
    ],
)
def test_a_job_at_creation(
    labels: dict[str, str], around: dict[str, bool], want: tuple[dict[str, str], bool | None]
) -> None:
    got = default_job(job(**labels), Surroundings(**around))
    assert (got["metadata"]["labels"], got["spec"].get("suspend")) == want


def test_a_job_is_not_changed_in_place() -> None:
    original = job(**{QUEUE: "door"})
    default_job(original, Surroundings())
    assert "suspend" not in original["spec"]


def test_pod_sets_are_named_in_lower_case() -> None:
    got = default_workload({"spec": {"podSets": [{"count": 1}]}})
    assert got["spec"]["podSets"][0]["name"] == "main"
