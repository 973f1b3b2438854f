"""Objects that are made of other objects that could be queued: charged once, for a whole life.

RayJob and RayCluster, TrainJob, JobSet and Jobs, AppWrapper and Job. Their controllers are played.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from e2e.test_kinds_of_jobs import queued

from e2e.actors import (
    APP_WRAPPER,
    JOB,
    JOB_SET,
    OVER,
    RAY_CLUSTER,
    RAY_JOB,
    RUNTIME,
    TRAIN_JOB,
    acting,
)
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.jobs import running, wait_job
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    QUEUE_NAME,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

__all__ = ["queued"]
NAME = "nested"


@dataclass(frozen=True, kw_only=True)
class Nest:
    """What is queued, and what it is made of."""

    kind: str
    below: tuple[str, ...]
    """The kinds below it, each made of the next."""
    spec: Callable[[Pods], Object]
    pods: int
    endless: bool = False
    """Whether its pods run until somebody says that it has ended."""


def ray_of(pods: Pods) -> Object:
    group = {"groupName": "small", "replicas": 2, "template": pods.template()}
    cluster = {"headGroupSpec": {"template": pods.template()}, "workerGroupSpecs": [group]}
    spec = {"submissionMode": "HTTPMode", "entrypoint": "train", "rayClusterSpec": cluster}
    return {**spec, "shutdownAfterJobFinishes": True}


def training_of(pods: Pods) -> Object:
    del pods
    return {"runtimeRef": {"name": "torch"}}


def runtime_of(pods: Pods) -> Object:
    """Return the runtime that a TrainJob is made by, of three nodes."""
    job_spec = {"parallelism": 3, "completions": 3, "template": pods.template()}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": job_spec}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {
            "mlPolicy": {"numNodes": 3},
            "template": {"spec": {"replicatedJobs": [node]}},
        },
    }


def wrapping_of(pods: Pods) -> Object:
    wrapped = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{NAME}-job"},
        "spec": {"parallelism": 3, "completions": 3, "template": pods.template()},
    }
    return {"components": [{"template": wrapped}]}


NESTS = (
    Nest(kind=RAY_JOB, below=(RAY_CLUSTER,), spec=ray_of, pods=3, endless=True),
    Nest(kind=TRAIN_JOB, below=(JOB_SET, JOB), spec=training_of, pods=3),
    Nest(kind=APP_WRAPPER, below=(JOB,), spec=wrapping_of, pods=3),
)


@pytest.mark.parametrize("nest", NESTS, ids=[one.kind.rpartition("/")[2] for one in NESTS])
def test_what_is_made_of_what_could_be_queued_is_charged_once(
    queued: Cluster, space: World, nest: Nest
) -> None:
    pods = Pods(run_s=None if nest.endless else 15)
    runtime = runtime_of(pods)
    make_queue(space, nest)
    if nest.kind == TRAIN_JOB:
        space.api.apply(runtime)
    played = [one for one in (nest.kind, *nest.below) if one != JOB]
    with acting(space, *played, runtime=runtime):
        before = create(space, nest, pods)
        workload = wait_workload(space, lambda one: holds(one, "PodsReady"), "pods ready")
        assert_made_of(space, nest)
        assert_one_workload(space, nest, workload)

        labels = {PRIORITY_CLASS: space.name("urgent")}
        urgent = Pods(run_s=3)
        space.make(
            job(
                space.namespace,
                "urgent",
                queue="team",
                labels=labels,
                parallelism=nest.pods,
                pods=urgent,
            )
        )
        wait_job(space, "urgent", running, "running in its place")
        assert not [one for one in pods_of(space) if one["status"]["phase"] == "Running"]
        stopped = space.api.get(nest.kind, NAME, space.namespace)
        assert stopped["spec"] == before["spec"]
        wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")

        wait_workload(space, lambda one: holds(one, "PodsReady"), "back, and ready")
        assert_made_of(space, nest)
        if nest.endless:
            end = {"metadata": {"annotations": {OVER: "Succeeded"}}}
            space.api.patch(nest.kind, NAME, end, namespace=space.namespace)
        done = wait_workload(space, lambda one: holds(one, "Finished"), "finished")
        assert condition(done, "Finished")["reason"] == "Succeeded"
        wait_nothing_held(space.api, space.namespace, [space.name("cq")])
        space.api.delete(nest.kind, NAME, space.namespace)
        for kind in (*nest.below, "Pod"):
            space.api.wait(
                kind,
                lambda left: not ours(left),
                namespace=space.namespace,
                what=f"no {kind} left",
            )
    if nest.kind == TRAIN_JOB:
        space.api.delete(RUNTIME, "torch")


def make_queue(space: World, nest: Nest) -> None:
    """Make a queue with room for exactly one object."""
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): {"cpu": str(nest.pods)}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("urgent"), 1000),
    )
    space.wait_for_queue("team")


def create(space: World, nest: Nest, pods: Pods) -> Object:
    api_version, _, kind = nest.kind.rpartition("/")
    labels = {QUEUE_NAME: "team"}
    meta = {"name": NAME, "namespace": space.namespace, "labels": labels}
    body = {"apiVersion": api_version, "kind": kind, "metadata": meta}
    return space.api.create({**body, "spec": {**nest.spec(pods), "suspend": True}})


def ours(found: list[Object]) -> list[Object]:
    """Leave out what is of the urgent Job."""
    return [one for one in found if "urgent" not in one["metadata"]["name"]]


def wait_workload(space: World, until: Callable[[Object], bool], what: str) -> Object:
    found = space.api.wait(
        "Workload",
        lambda found: any(map(until, ours(found))),
        namespace=space.namespace,
        what=what,
    )
    (only,) = ours(found)
    return only


def pods_of(space: World) -> list[Object]:
    return ours(space.api.items("Pod", space.namespace))


def assert_made_of(space: World, nest: Nest) -> None:
    """See that all that is below runs, as pods on the nodes of the flavor."""
    for kind in nest.below:
        (one,) = ours(space.api.items(kind, space.namespace))
        assert not one["spec"].get("suspend"), kind
    found = [one for one in pods_of(space) if not one["metadata"].get("deletionTimestamp")]
    alive = [one for one in found if one["status"]["phase"] in ("Pending", "Running")]
    assert len(alive) == nest.pods
    assert all(POOL.items() <= one["spec"]["nodeSelector"].items() for one in alive)


def assert_one_workload(space: World, nest: Nest, workload: Object) -> None:
    (owner,) = workload["metadata"]["ownerReferences"]
    assert owner["kind"] == nest.kind.rpartition("/")[2]
    assert len(space.api.items("Workload", space.namespace)) == 1

    def as_much(queue: Object) -> bool:
        ((resource,),) = (one["resources"] for one in queue["status"]["flavorsUsage"])
        return bool(resource["total"] == str(nest.pods))

    space.api.wait_one("ClusterQueue", space.name("cq"), as_much, what="charged once")
