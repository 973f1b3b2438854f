"""JobSets and RayClusters on the local cluster: queued, started, stopped and ended."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from queueing.cli.local.cluster import (
    ServerLocation,
    alone,
    controlled,
    local_cluster,
    sample_jobsets,
    sample_objects,
)
from queueing.core.settings import Compatibility
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import Resource

BOUND_S = 60.0
TEAM = "team-vision"
JOB_SETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
RAY_CLUSTERS = Resource("ray.io", "v1", "rayclusters", "RayCluster")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
SECONDS = "queueing.dev/simulate-seconds"
Wire = dict[str, Any]


class Room:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def create(self, resource: Resource, body: Wire) -> Wire:
        return dict(json.loads(await self.client.create(resource.within(TEAM), body)))

    async def patch(self, resource: Resource, name: str, spec: Wire) -> None:
        namespace = TEAM if resource.namespaced else ""
        await self.client.patch_merge(resource.at(name, namespace), {"spec": spec})

    async def items(self, resource: Resource) -> list[Wire]:
        return list(json.loads(await self.client.list_page(resource.within(TEAM)))["items"])

    async def until(self, resource: Resource, holds: Callable[[list[Wire]], bool]) -> list[Wire]:
        while not holds(found := await self.items(resource)):
            await asyncio.sleep(0.02)
        return found


@asynccontextmanager
async def room() -> AsyncIterator[Room]:
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), sample_objects()) as server,
        controlled(server, alone(), Compatibility.QUEUEING),
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        yield Room(client)


def job_set(seconds: str = "1", **notes: str) -> Wire:
    """Return the JobSet of the samples, as one who forgot to suspend it would create it."""
    (sample,) = (one.value for one in sample_jobsets())
    meta = {**sample["metadata"], "annotations": {SECONDS: seconds, **notes}}
    return {**sample, "metadata": meta}


def ray_cluster() -> Wire:
    (sample,) = (one.value for one in sample_jobsets())
    template = sample["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pods = {"spec": {**template["spec"], "restartPolicy": "Always"}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "ray", "namespace": TEAM, "labels": sample["metadata"]["labels"]},
        "spec": {
            "headGroupSpec": {"template": pods},
            "workerGroupSpecs": [{"groupName": "small", "replicas": 2, "template": pods}],
        },
    }


def has(kind: str) -> Callable[[list[Wire]], bool]:
    return lambda found: any(
        condition["type"] == kind and condition["status"] == "True"
        for one in found
        for condition in one.get("status", {}).get("conditions", ())
    )


def count(number: int) -> Callable[[list[Wire]], bool]:
    return lambda found: len(found) == number


async def test_a_job_set_is_suspended_admitted_and_runs_to_its_end() -> None:
    async with room() as at:
        made = await at.create(JOB_SETS, job_set())
        assert made["spec"]["suspend"]
        (done,) = await at.until(JOB_SETS, has("Completed"))
        counts = {one["name"]: one["succeeded"] for one in done["status"]["replicatedJobsStatus"]}
        assert counts == {"driver": 1, "workers": 2}
        (workload,) = await at.until(resources.WORKLOADS, has("Finished"))
        assert [one["count"] for one in workload["spec"]["podSets"]] == [1, 4]


async def test_a_job_set_fails_with_its_first_job() -> None:
    async with room() as at:
        failing = job_set(**{"queueing.dev/simulate-failure": "true"})
        driver, _ = failing["spec"]["replicatedJobs"]
        driver["template"]["spec"]["backoffLimit"] = 0
        await at.create(JOB_SETS, failing)
        await at.until(JOB_SETS, has("Failed"))
        (workload,) = await at.until(resources.WORKLOADS, has("Finished"))
        found = workload["status"]["conditions"]
        assert next(one["reason"] for one in found if one["type"] == "Finished") == "Failed"


async def test_a_job_set_that_is_stopped_has_no_pods_and_comes_back() -> None:
    async with room() as at:
        await at.create(JOB_SETS, job_set("600"))
        await at.until(resources.WORKLOADS, has("PodsReady"))
        await at.patch(resources.CLUSTER_QUEUES, "vision", {"stopPolicy": "HoldAndDrain"})
        await at.until(resources.PODS, count(0))
        (stopped,) = await at.until(JOB_SETS, lambda found: found[0]["spec"]["suspend"])
        await at.until(resources.WORKLOADS, lambda found: not has("QuotaReserved")(found))
        assert not has("Failed")([stopped])
        await at.patch(resources.CLUSTER_QUEUES, "vision", {"stopPolicy": "None"})
        await at.until(resources.PODS, count(5))
        await at.client.delete(JOB_SETS.at("sweep", TEAM), {"propagationPolicy": "Background"})
        await at.until(resources.PODS, count(0))


async def test_a_ray_cluster_is_ready_with_its_last_pod_and_runs_until_it_is_deleted() -> None:
    async with room() as at:
        made = await at.create(RAY_CLUSTERS, ray_cluster())
        assert made["spec"]["suspend"]
        await at.until(RAY_CLUSTERS, lambda found: found[0]["status"]["state"] == "ready")
        await at.until(resources.WORKLOADS, has("PodsReady"))
        pods = {one["metadata"]["name"] for one in await at.items(resources.PODS)}
        assert pods == {"ray-headgroup-0", "ray-small-0", "ray-small-1"}
        await at.client.delete(RAY_CLUSTERS.at("ray", TEAM), {"propagationPolicy": "Background"})
        await at.until(resources.WORKLOADS, count(0))
        await at.until(resources.PODS, count(0))


def serving(kind: str, replicas: int) -> Wire:
    (sample,) = (one.value for one in sample_jobsets())
    template = sample["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    labels = {"app": "web"}
    pods = {"metadata": {"labels": labels}, "spec": {**template["spec"], "restartPolicy": "Always"}}
    selector = {"matchLabels": labels}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": TEAM},
        "spec": {"replicas": replicas, "selector": selector, "template": pods},
    }


def ready(number: int) -> Callable[[list[Wire]], bool]:
    return lambda found: [one.get("status", {}).get("readyReplicas") for one in found] == [number]


async def test_a_deployment_runs_is_scaled_and_goes_with_its_pods() -> None:
    async with room() as at:
        await at.create(DEPLOYMENTS, serving("Deployment", 2))
        await at.until(DEPLOYMENTS, ready(2))
        before = {one["metadata"]["uid"] for one in await at.items(resources.PODS)}
        await at.patch(DEPLOYMENTS, "web", {"replicas": 3})
        await at.until(DEPLOYMENTS, ready(3))
        assert before < {one["metadata"]["uid"] for one in await at.items(resources.PODS)}
        (owner,) = (await at.items(resources.PODS))[0]["metadata"]["ownerReferences"]
        assert owner["kind"] == "ReplicaSet"
        await at.client.delete(DEPLOYMENTS.at("web", TEAM), {"propagationPolicy": "Background"})
        await at.until(resources.PODS, count(0))


async def test_pods_of_a_stateful_set_are_numbered() -> None:
    async with room() as at:
        await at.create(STATEFUL_SETS, serving("StatefulSet", 2))
        await at.until(STATEFUL_SETS, ready(2))
        names = [one["metadata"]["name"] for one in await at.items(resources.PODS)]
        assert names == ["web-0", "web-1"]
        await at.patch(STATEFUL_SETS, "web", {"replicas": 1})
        await at.until(resources.PODS, count(1))
