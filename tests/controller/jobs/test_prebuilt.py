from queueing.kube.resources import WORKLOADS
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
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
