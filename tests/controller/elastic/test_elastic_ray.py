"""RayClusters, RayJobs and RayServices grow and shrink while they run."""

from typing import Any

import pytest

from queueing.kinds.paths import put, steps, value_at
from tests.controller.elastic.test_elastic_jobs import (
    ELASTIC,
    REPLACES,
    SLICE_NAME,
    is_gated,
    slices,
    uses,
)
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)
from tests.controller.test_kinds import create, define, named, resource, runs, until

CLUSTER = "ray.io/raycluster"
SPEC_OF = {
    CLUSTER: "spec",
    "ray.io/rayjob": "spec.rayClusterSpec",
    "ray.io/rayservice": "spec.rayClusterConfig",
}
ON: dict[str, Any] = {"integrations": {"frameworks": list(SPEC_OF)}}


def pods(name: str) -> Wire:
    container = {"name": name, "image": "x", "resources": {"requests": {"cpu": "1"}}}
    return {"spec": {"containers": [container]}}


def cluster_spec(replicas: int) -> Wire:
    group = {"groupName": "small", "replicas": replicas, "template": pods("ray-worker")}
    return {"headGroupSpec": {"template": pods("ray-head")}, "workerGroupSpecs": [group]}


def ray(framework: str, replicas: int, **metadata: Any) -> Wire:
    made: Wire = {
        "metadata": {
            "name": "ray",
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": "lq"},
            "annotations": {ELASTIC: "true"},
            **metadata,
        },
        "spec": {},
        "apiVersion": "ray.io/v1",
        "kind": named(framework).kind,
    }
    put(made, steps(SPEC_OF[framework]), cluster_spec(replicas))
    suspended = (
        "spec.rayClusterConfig.suspend" if framework == "ray.io/rayservice" else "spec.suspend"
    )
    put(made, steps(suspended), value=True)
    return made


async def scale(world: World, framework: str, name: str, replicas: int) -> None:
    found = await until(world, framework, name, bool)
    groups = value_at(found, steps(f"{SPEC_OF[framework]}.workerGroupSpecs"))
    change: Wire = {}
    put(
        change,
        steps(f"{SPEC_OF[framework]}.workerGroupSpecs"),
        [{**groups[0], "replicas": replicas}],
    )
    await world.client.patch_merge(resource(framework).at(name, "team"), change)


async def make_pods(
    world: World, template: Wire, count: int, first: int = 0, *, group: str = "small"
) -> None:
    """Create pods of a group as its controller would; they run until they are deleted."""
    meta = template["metadata"]
    notes = {**meta["annotations"], "queueing.dev/simulate-seconds": "6000"}
    for number in range(first, first + count):
        await world.make(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    **meta,
                    "annotations": notes,
                    "name": f"{group}-{number}",
                    "namespace": "team",
                },
                "spec": template["spec"],
            }
        )


async def until_open(world: World, names: set[str]) -> None:
    for name in sorted(names):
        await world.until("Pod", name, lambda one: not is_gated(one))
    gated = {one["metadata"]["name"] for one in await world.list("Pod") if is_gated(one)}
    assert gated.isdisjoint(names)


def is_running(framework: str, one: Wire) -> bool:
    return not value_at(one, steps(SPEC_OF[framework])).get("suspend") and runs(one)


async def started(world: World, framework: str) -> Wire:
    return await until(world, framework, "ray", lambda one: is_running(framework, one))


@pytest.mark.parametrize("framework", sorted({*SPEC_OF} - {"ray.io/rayjob"}))
async def test_a_group_of_workers_grows_and_shrinks(world: MakeWorld, framework: str) -> None:
    async with world(**ON) as w:
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
        await define(w, framework)
        await create(w, framework, ray(framework, 1))
        running = await started(w, framework)
        (first,) = await slices(w)
        groups = f"{SPEC_OF[framework]}.workerGroupSpecs"
        template = value_at(running, steps(groups))[0]["template"]
        assert template["metadata"]["annotations"][SLICE_NAME] == first["metadata"]["name"]
        await make_pods(w, template, 1)
        await until_open(w, {"small-0"})
        await scale(w, framework, "ray", 3)
        await make_pods(w, template, 2, first=1)
        await until_open(w, {"small-1", "small-2"})
        await w.until(
            "Workload", first["metadata"]["name"], true("Finished", "WorkloadSliceReplaced")
        )
        await w.until("ClusterQueue", "cq", uses("4"))
        (second,) = await slices(w)
        assert [one["count"] for one in second["spec"]["podSets"]] == [1, 3]
        await scale(w, framework, "ray", 2)
        await w.make(job("other"))
        await w.workload("other", false("QuotaReserved"))
        await w.delete("Pod", "small-2")
        await w.until("ClusterQueue", "cq", uses("4"))
        await w.until("Job", "other", lambda one: not one["spec"]["suspend"])
        (third,) = [one for one in await slices(w) if len(one["spec"]["podSets"]) > 1]
        assert [one["count"] for one in third["spec"]["podSets"]] == [1, 2]
        assert is_running(framework, await until(w, framework, "ray", bool))


async def test_a_worker_that_is_made_anew_is_let_go_though_the_status_says_nothing_new(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
        await define(w, CLUSTER)
        await create(w, CLUSTER, ray(CLUSTER, 1))
        spec = (await started(w, CLUSTER))["spec"]
        await make_pods(w, spec["headGroupSpec"]["template"], 1, group="head")
        await make_pods(w, spec["workerGroupSpecs"][0]["template"], 1)
        await until_open(w, {"head-0", "small-0"})
        await w.until("ClusterQueue", "cq", uses("2"))
        await w.delete("Pod", "small-0")
        await make_pods(w, spec["workerGroupSpecs"][0]["template"], 1, first=1)
        await until_open(w, {"small-1"})


@pytest.mark.parametrize("framework", ["ray.io/rayjob", "ray.io/rayservice"])
async def test_a_job_grows_by_the_cluster_that_it_owns(world: MakeWorld, framework: str) -> None:
    async with world(**ON) as w:
        await w.make(FLAVOR, cluster_queue("4"), LOCAL_QUEUE)
        await define(w, framework)
        await define(w, CLUSTER)
        made = await create(w, framework, ray(framework, 1))
        await started(w, framework)
        (first,) = await slices(w)
        owner = {
            "apiVersion": "ray.io/v1",
            "kind": named(framework).kind,
            "name": "ray",
            "uid": made["metadata"]["uid"],
            "controller": True,
        }
        child = ray(CLUSTER, 1, name="ray-of-it", ownerReferences=[owner])
        await create(w, CLUSTER, {**child, "spec": {**child["spec"], "suspend": False}})
        await scale(w, CLUSTER, "ray-of-it", 3)
        await w.until(
            "Workload", first["metadata"]["name"], true("Finished", "WorkloadSliceReplaced")
        )
        await w.until("ClusterQueue", "cq", uses("4"))
        (second,) = await slices(w)
        assert second["metadata"]["annotations"][REPLACES] == f"team/{first['metadata']['name']}"
        await scale(w, CLUSTER, "ray-of-it", 1)
        await w.until("ClusterQueue", "cq", uses("2"))
        assert is_running(framework, await until(w, framework, "ray", bool))
        assert not (await until(w, CLUSTER, "ray-of-it", bool))["spec"]["suspend"]
