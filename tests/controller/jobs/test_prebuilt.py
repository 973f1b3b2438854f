from typing import Any

import pytest

from queueing.kube.resources import WORKLOADS
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    job,
    true,
)

PREBUILT = {"kueue.x-k8s.io/prebuilt-workload-name": "ready-made"}


def workload(of: Wire, count: int = 1, owners: list[Wire] | None = None) -> Wire:
    template = of["spec"]["template"]
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": "ready-made", "namespace": "team", "ownerReferences": owners or []},
        "spec": {
            "queueName": "lq",
            "podSets": [{"name": "main", "count": count, "template": template}],
        },
    }


def running(one: Wire) -> bool:
    return one["spec"]["suspend"] is False


async def test_the_job_starts_with_the_workload_that_it_names_and_makes_none(
    world: MakeWorld,
) -> None:
    async with world() as w:
        wanted = job("a", seconds=2, labels=PREBUILT)
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, wanted)
        await w.make(workload(wanted))
        await w.until("Job", "a", running)
        found = await w.workload("a", true("Finished", "Succeeded"))
        assert found["metadata"]["name"] == "ready-made"
        assert len(await w.list("Workload")) == 1


async def test_a_workload_of_another_job_is_not_taken(world: MakeWorld) -> None:
    async with world() as w:
        wanted = job("a", labels=PREBUILT)
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE)
        await w.make(job("other", seconds=600))
        uid = (await w.until("Job", "other", running))["metadata"]["uid"]
        other = {"apiVersion": "batch/v1", "kind": "Job", "name": "other", "uid": uid}
        await w.make(workload(wanted, owners=[{**other, "controller": True}]))
        await w.make(wanted, job("last"))
        await w.until("Job", "last", running)
        assert not running(await w.get("Job", "a"))


async def test_a_workload_that_does_not_match_ends_out_of_sync(world: MakeWorld) -> None:
    async with world() as w:
        wanted = job("a", labels=PREBUILT)
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE)
        await w.client.create(WORKLOADS.within("team"), workload(wanted, count=2))
        await w.make(wanted)
        await w.workload("a", true("Finished", "OutOfSync"))
        assert not running(await w.get("Job", "a"))


def slow(name: str, **more: Any) -> Wire:
    """Return a Job that names the Workload, with a pod that takes two seconds to end."""
    made = job(name, labels=PREBUILT, parallelism=1, **more)
    template = made["spec"]["template"]
    template["metadata"]["annotations"]["queueing.dev/simulate-drain-seconds"] = "40"
    template["spec"]["terminationGracePeriodSeconds"] = 60
    return made


async def start(w: World, wanted: Wire) -> None:
    """Have a Job run that uses all quota, and another one wait."""
    await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, wanted, workload(wanted))
    await w.until("Job", wanted["metadata"]["name"], lambda one: one["status"].get("ready") == 1)
    await w.make(job("next"))


async def pods_left_when_the_next_starts(w: World, of: str) -> list[str]:
    await w.until("Job", "next", running)
    found = [one["metadata"]["name"] for one in await w.list("Pod")]
    return [name for name in found if name.startswith(f"{of}-")]


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_quota_is_kept_until_the_pods_of_a_deleted_job_have_ended(
    world: MakeWorld, policy: str
) -> None:
    async with world() as w:
        await start(w, slow("a"))
        await w.delete("Job", "a", policy)
        assert await pods_left_when_the_next_starts(w, "a") == []
        await w.until_gone("Workload", "ready-made")
        await w.until_gone("Job", "a")


async def test_quota_is_kept_until_the_pods_of_a_job_that_no_longer_matches_have_ended(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await start(w, slow("a"))
        await w.patch("Job", "a", {"spec": {"parallelism": 2}})
        assert await pods_left_when_the_next_starts(w, "a") == []
        await w.workload("a", true("Finished", "OutOfSync"))


async def test_a_workload_that_its_job_left_behind_ends_and_can_be_deleted(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await start(w, slow("a"))
        await w.delete("Job", "a", "Orphan")
        await w.until("Workload", "ready-made", true("Finished", "OwnerNotFound"))
        await w.until("Job", "next", running)
        await w.delete("Workload", "ready-made")
        await w.until_gone("Workload", "ready-made")


async def test_a_child_runs_only_while_its_parent_is_admitted(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("parent"))
        parent = (await w.until("Job", "parent", running))["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "parent", "uid": parent["uid"]}
        child = job("child", labels={"kueue.x-k8s.io/queue-name": None}, suspend=False)
        child["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        await w.make(child)
        await w.until("Job", "child", lambda one: one.get("status", {}).get("active") == 1)
        name = (await w.list("Workload"))[0]["metadata"]["name"]
        await w.patch("Workload", name, {"spec": {"active": False}})
        await w.until("Job", "child", lambda one: not running(one))
        assert len(await w.list("Workload")) == 1, "a child has no Workload of its own"
