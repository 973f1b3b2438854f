"""Elastic jobs on the embedded API server: they grow, shrink, are preempted and end."""

from collections.abc import Callable
from typing import Any

import pytest

from queueing.core.settings import Compatibility
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)

ELASTIC = "kueue.x-k8s.io/elastic-job"
SLICE_NAME = "kueue.x-k8s.io/workload-slice-name"
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
HIGH: Wire = {
    "apiVersion": KUEUE,
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "high"},
    "value": 100,
}
DATED = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
PREEMPTS = {"preemption": {"withinClusterQueue": "LowerPriority"}}


def elastic(name: str, parallelism: int, **more: Any) -> Wire:
    """Return a Job of pods of one CPU that may grow and shrink."""
    made = job(name, parallelism=parallelism, **more)
    made["metadata"]["annotations"][ELASTIC] = "true"
    return made


async def scale(world: World, name: str, parallelism: int) -> None:
    await world.patch("Job", name, {"spec": {"parallelism": parallelism}})


async def slices(world: World) -> list[Wire]:
    """Return the slices that have not finished, the oldest first."""
    live = [one for one in await world.list("Workload") if not true("Finished")(one)]
    return sorted(live, key=lambda one: (REPLACES in one["metadata"]["annotations"], count(one)))


def count(workload: Wire) -> int:
    return int(workload["spec"]["podSets"][0]["count"])


def is_gated(pod: Wire) -> bool:
    return any(gate["name"] == ELASTIC for gate in pod["spec"].get("schedulingGates", []))


async def runs(world: World, name: str, pods: int) -> None:
    """Wait until as many pods of a Job run as are told."""
    await world.until("Job", name, lambda one: one.get("status", {}).get("ready") == pods)


def uses(cpu: str) -> Callable[[Wire], bool]:
    """Say whether a ClusterQueue has so much CPU reserved."""

    def holds(one: Wire) -> bool:
        flavors = one.get("status", {}).get("flavorsReservation", [])
        return any(two["total"] == cpu for flavor in flavors for two in flavor["resources"])

    return holds


@pytest.mark.parametrize("mode", Compatibility)
async def test_a_running_job_grows_by_another_slice_without_a_stop(
    world: MakeWorld, mode: Compatibility
) -> None:
    async with world(compatibility=mode) as w:
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, elastic("a", 2))
        await runs(w, "a", 2)
        (first,) = await slices(w)
        started = (await w.get("Job", "a"))["spec"]["template"]
        await scale(w, "a", 4)
        await runs(w, "a", 4)
        await w.until("ClusterQueue", "cq", uses("4"))
        (second,) = await slices(w)
        marks = second["metadata"]["annotations"]
        name = first["metadata"]["name"]
        assert (marks[SLICE_NAME], marks[REPLACES]) == (name, f"team/{name}")
        assert count(second) == 4
        assert second["spec"]["podSets"][0]["template"] == first["spec"]["podSets"][0]["template"]
        done = await w.until("Workload", name, true("Finished", "WorkloadSliceReplaced"))
        assert not done["metadata"].get("finalizers")
        now = await w.get("Job", "a")
        assert now["spec"]["template"] == started
        assert now["status"]["startTime"]


async def test_pods_beyond_the_quota_wait_at_their_gate(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("3"), LOCAL_QUEUE, elastic("a", 2))
        await runs(w, "a", 2)
        await scale(w, "a", 4)
        waiting = await w.workload("a", false("QuotaReserved", "WaitingForQuota"))
        assert count(waiting) == 4
        await w.until("Job", "a", lambda one: one["status"].get("active") == 4)
        assert sum(map(is_gated, await w.list("Pod"))) == 2
        await w.patch("ClusterQueue", "cq", {"spec": cluster_queue("4")["spec"]})
        await runs(w, "a", 4)


async def test_a_job_shrinks_in_place_and_its_quota_is_free_when_the_pods_have_ended(
    world: MakeWorld,
) -> None:
    async with world() as w:
        shrinking = elastic("a", 4)
        notes = shrinking["spec"]["template"]["metadata"]["annotations"]
        notes["queueing.dev/simulate-drain-seconds"] = "20"
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, shrinking)
        await runs(w, "a", 4)
        await w.make(job("b", cpu="3"))
        (before,) = [one for one in await slices(w) if count(one) == 4]
        await scale(w, "a", 1)
        await w.until("Job", "a", lambda one: one["status"].get("terminating") == 3)
        await w.until("Workload", before["metadata"]["name"], true("PodsReady"))
        draining = await w.get("Workload", before["metadata"]["name"])
        assert count(draining) == 4
        assert (await w.get("Job", "b"))["spec"]["suspend"]
        await runs(w, "b", 1)
        assert len([one for one in await w.list("Pod") if "a-" in one["metadata"]["name"]]) == 1
        after = await w.get("Workload", before["metadata"]["name"])
        assert (after["metadata"]["uid"], count(after)) == (before["metadata"]["uid"], 1)
        await w.until("ClusterQueue", "cq", uses("4"))
        await runs(w, "a", 1)


async def test_a_job_that_shrinks_to_nothing_grows_again(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, elastic("a", 2))
        await runs(w, "a", 2)
        await scale(w, "a", 0)
        await w.until("ClusterQueue", "cq", uses("0"))
        await scale(w, "a", 1)
        await runs(w, "a", 1)
        await w.until("ClusterQueue", "cq", uses("1"))
        (left,) = await slices(w)
        assert count(left) == 1


async def test_a_job_that_wants_less_again_takes_its_wish_back(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, elastic("a", 2))
        await runs(w, "a", 2)
        await scale(w, "a", 3)
        wish = await w.workload("a", false("QuotaReserved", "WaitingForQuota"))
        await scale(w, "a", 4)
        await w.until("Workload", wish["metadata"]["name"], lambda one: count(one) == 4)
        await scale(w, "a", 1)
        await w.until("Workload", wish["metadata"]["name"], true("Finished", "OutOfSync"))
        await w.until("ClusterQueue", "cq", uses("1"))
        (left,) = await slices(w)
        assert count(left) == 1


async def test_a_preempted_job_comes_back_as_large_as_it_wants_to_be(world: MakeWorld) -> None:
    async with world() as w:
        template = (elastic("a", 1))["spec"]["template"]
        await w.make(FLAVOR, cluster_queue("3", **PREEMPTS), LOCAL_QUEUE, HIGH, elastic("a", 1))
        await runs(w, "a", 1)
        await scale(w, "a", 3)
        await runs(w, "a", 3)
        marks = {"kueue.x-k8s.io/priority-class": "high"}
        await w.make(job("urgent", cpu="2", labels=marks))
        await runs(w, "urgent", 1)
        stopped = await w.until("Job", "a", lambda one: one["spec"]["suspend"] is True)
        await w.until("ClusterQueue", "cq", uses("2"))
        restored = stopped["spec"]["template"]
        assert ELASTIC not in str(restored)
        assert restored["spec"]["nodeSelector"] == template["spec"]["nodeSelector"]
        await scale(w, "a", 2)
        (pending,) = [
            one for one in await slices(w) if SLICE_NAME in one["metadata"]["annotations"]
        ]
        await w.until("Workload", pending["metadata"]["name"], lambda one: count(one) == 2)
        await w.delete("Job", "urgent")
        await runs(w, "a", 2)


async def test_an_evicted_job_takes_the_slice_along_by_which_it_wanted_to_grow(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2", **PREEMPTS), LOCAL_QUEUE, HIGH, elastic("a", 2))
        await runs(w, "a", 2)
        (first,) = await slices(w)
        await scale(w, "a", 3)
        wish = await w.workload("a", false("QuotaReserved", "WaitingForQuota"))
        await w.make(job("urgent", cpu="2", labels={"kueue.x-k8s.io/priority-class": "high"}))
        await w.until("Workload", wish["metadata"]["name"], true("Finished", "OutOfSync"))
        await runs(w, "urgent", 1)
        stopped = await w.until("Workload", first["metadata"]["name"], false("QuotaReserved"))
        assert not true("Finished")(stopped)
        await w.until("Workload", first["metadata"]["name"], lambda one: count(one) == 3)


async def test_nothing_is_left_of_an_elastic_job_that_ends_while_it_wants_to_grow(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, elastic("a", 2, backoffLimit=0))
        await runs(w, "a", 2)
        await scale(w, "a", 3)
        wish = await w.workload("a", false("QuotaReserved", "WaitingForQuota"))
        running = next(one for one in await w.list("Pod") if not is_gated(one))
        failed = {"status": {"phase": "Failed"}}
        await w.patch("Pod", running["metadata"]["name"], failed, "status")
        await w.until("Job", "a", true("Failed"))
        await w.until("Workload", wish["metadata"]["name"], true("Finished", "OutOfSync"))
        await w.workload("a", true("Finished", "Failed"))
        await w.until("ClusterQueue", "cq", uses("0"))
        for one in await w.list("Workload"):
            await w.until(
                "Workload", one["metadata"]["name"], lambda it: not it["metadata"].get("finalizers")
            )


async def test_checks_of_a_slice_are_awaited_while_the_job_runs_on(world: MakeWorld) -> None:
    check: Wire = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "approval"},
        "spec": {"controllerName": "example.com/approver"},
    }
    active = {"type": "Active", "status": "True", "reason": "Up", "message": "", **DATED}
    queue = cluster_queue("4", admissionChecksStrategy={"admissionChecks": [{"name": "approval"}]})
    async with world() as w:
        await w.make(FLAVOR, check, queue, LOCAL_QUEUE)
        await w.patch("AdmissionCheck", "approval", {"status": {"conditions": [active]}}, "status")
        await w.make(elastic("a", 1))
        await approve(w, await w.workload("a", true("QuotaReserved")))
        await runs(w, "a", 1)
        await scale(w, "a", 3)
        second = await w.workload("a", lambda one: count(one) == 3 and true("QuotaReserved")(one))
        await w.until("ClusterQueue", "cq", uses("3"))
        await w.until("Job", "a", lambda one: one["status"].get("active") == 3)
        assert sum(map(is_gated, await w.list("Pod"))) == 2
        assert len(await slices(w)) == 2
        update = {"name": "main", "annotations": {"example.com/seen": "yes"}}
        await approve(w, second, update)
        await runs(w, "a", 3)
        told = [
            one["metadata"]["annotations"].get("example.com/seen") for one in await w.list("Pod")
        ]
        assert sorted(filter(None, told)) == ["yes", "yes"]


async def approve(world: World, workload: Wire, *updates: Wire) -> None:
    """Say what an admission check's controller says of a Workload."""
    ready = {"name": "approval", "state": "Ready", "message": "", **DATED}
    states = [{**ready, "podSetUpdates": list(updates)}]
    name = workload["metadata"]["name"]
    await world.until("Workload", name, lambda one: one["status"].get("admissionChecks"))
    await world.patch("Workload", name, {"status": {"admissionChecks": states}}, "status")


async def test_a_job_whose_gate_is_off_is_not_elastic(world: MakeWorld) -> None:
    async with world(featureGates={"ElasticJobsViaWorkloadSlices": False}) as w:
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE, elastic("a", 2))
        await runs(w, "a", 2)
        assert not any(map(is_gated, await w.list("Pod")))
        [first] = await w.list("Workload")
        await scale(w, "a", 4)
        meta = first["metadata"]
        await w.until("Workload", meta["name"], lambda one: one["metadata"]["uid"] != meta["uid"])
        await runs(w, "a", 4)
