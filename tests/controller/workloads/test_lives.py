from typing import Any

import msgspec
import pytest

from queueing.apiserver.wire.call import HttpRequest
from queueing.core.settings import Compatibility
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    cluster_queue,
    false,
    job,
    true,
)

POD_SETS: list[dict[str, Any]] = [
    {
        "name": "main",
        "count": 1,
        "template": {
            "spec": {
                "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
            }
        },
    }
]


def bare(name: str, **spec: Any) -> Wire:
    """Return a Workload that no job owns."""
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"queueName": "lq", "podSets": POD_SETS, **spec},
    }


def priority_class(value: int) -> Wire:
    return {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "some"},
        "value": value,
    }


async def test_a_finished_workload_goes_when_its_retention_is_over(world: MakeWorld) -> None:
    retention = {"workloads": {"afterFinished": "0s"}}
    async with world(objectRetentionPolicies=retention) as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a", seconds=2))
        name = (await w.workload("a", lambda _: True))["metadata"]["name"]
        await w.until_gone("Workload", name)


async def test_a_job_whose_retention_is_over_takes_all_along_that_it_made(
    world: MakeWorld,
) -> None:
    asked: list[Wire] = []

    async def watch(call: HttpRequest) -> None:
        if call.method == "DELETE" and call.path.endswith("/jobs/a"):
            asked.append(msgspec.json.decode(call.body))

    retention = {"workloads": {"afterDeactivatedByKueue": "0s"}}
    async with world(intercept=watch, objectRetentionPolicies=retention) as w:
        labels = {"kueue.x-k8s.io/max-exec-time-seconds": "1"}
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a", labels=labels))
        found = await w.workload("a", lambda _: True)
        await w.until_gone("Job", "a")
        await w.until_gone("Workload", found["metadata"]["name"])
        assert [one["propagationPolicy"] for one in asked] == ["Background"]


async def test_a_job_that_runs_for_too_long_is_stopped_for_good(world: MakeWorld) -> None:
    async with world() as w:
        labels = {"kueue.x-k8s.io/max-exec-time-seconds": "1"}
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a", labels=labels))
        found = await w.workload("a", false("QuotaReserved", "Deactivated"))
        assert true("Evicted", "DeactivatedDueToMaximumExecutionTimeExceeded")(found)
        assert found["spec"]["active"] is False
        await w.until("Job", "a", lambda one: bool(one["spec"]["suspend"]))


async def test_workloads_follow_the_value_of_their_class(world: MakeWorld) -> None:
    async with world() as w:
        labels = {"kueue.x-k8s.io/priority-class": "some"}
        await w.make(job("a", labels=labels))
        await w.make(priority_class(5))
        await w.workload("a", lambda one: one["spec"]["priority"] == 5)
        await w.patch("WorkloadPriorityClass", "some", {"value": 7})
        await w.workload("a", lambda one: one["spec"]["priority"] == 7)


async def test_an_evicted_workload_that_nobody_owns_is_free_at_once(world: MakeWorld) -> None:
    async with world() as w:
        queue = cluster_queue("1", preemption={"withinClusterQueue": "LowerPriority"})
        await w.make(FLAVOR, queue, LOCAL_QUEUE, bare("low", priority=1))
        await w.until("Workload", "low", true("Admitted"))
        await w.make(bare("high", priority=2))
        await w.until("Workload", "high", true("Admitted"))
        await w.until("Workload", "low", true("Requeued", "Preempted"))


async def test_a_held_queue_lets_those_run_that_run(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, job("a"))
        await w.workload("a", true("PodsReady"))
        await w.patch("LocalQueue", "lq", {"spec": {"stopPolicy": "Hold"}})
        await w.until("LocalQueue", "lq", false("Active", "Stopped"))
        await w.make(job("b"))
        await w.workload("b", false("QuotaReserved"))
        assert true("Admitted")(await w.workload("a", lambda _: True))
        await w.patch("LocalQueue", "lq", {"spec": {"stopPolicy": "None"}})
        await w.workload("b", true("Admitted"))


async def test_an_over_large_pod_is_misconfigured_until_it_is_put_right(world: MakeWorld) -> None:
    limits = {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]}
    limit_range = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "team"},
        "spec": limits,
    }
    async with world() as w:
        await w.make(limit_range, FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a"))
        await w.workload("a", false("QuotaReserved", "Misconfigured"))
        await w.delete("LimitRange", "small")
        await w.workload("a", true("Admitted"))


async def test_a_check_that_fails_while_no_quota_is_held_is_asked_again(world: MakeWorld) -> None:
    def answered(state: str) -> Wire:
        at = "2026-01-01T00:00:00Z"
        found = {"name": "budget", "state": state, "message": "late", "lastTransitionTime": at}
        return {"status": {"admissionChecks": [found]}}

    async with world() as w:
        await w.make(FLAVOR, cluster_queue("500m"), LOCAL_QUEUE, bare("a"))
        await w.until("Workload", "a", false("QuotaReserved"))
        await w.patch("Workload", "a", answered("Retry"), "status")
        found = await w.until("Workload", "a", true("Requeued", "BackoffFinished"))
        assert true("Evicted", "AdmissionCheck")(found)
        [check] = found["status"]["admissionChecks"]
        assert (check["state"], check["retryCount"]) == ("Pending", 1)
        await w.patch("Workload", "a", answered("Rejected"), "status")
        found = await w.until("Workload", "a", true("Evicted", "DeactivatedDueToAdmissionCheck"))
        assert found["spec"]["active"] is False


@pytest.mark.parametrize("compatibility", Compatibility)
async def test_the_state_of_a_check_that_is_not_asked_for_is_dropped(
    world: MakeWorld, compatibility: Compatibility
) -> None:
    former = {"name": "former", "state": "Pending", "message": ""}
    at = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    async with world(compatibility=compatibility) as w:
        await w.make(FLAVOR, cluster_queue("500m"), LOCAL_QUEUE, bare("a"))
        await w.until("Workload", "a", false("QuotaReserved"))
        await w.patch("Workload", "a", {"status": {"admissionChecks": [former | at]}}, "status")
        await w.patch("ClusterQueue", "cq", {"spec": cluster_queue()["spec"]})
        found = await w.until("Workload", "a", true("Admitted"))
        assert not found["status"].get("admissionChecks")
