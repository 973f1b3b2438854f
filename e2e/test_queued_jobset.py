"""JobSets that are queued, under their own controller with its webhooks."""

from collections.abc import Iterator

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.controlplane.build import Binaries
from e2e.job_controllers import jobset
from e2e.jobs import running, wait_job
from e2e.loopback import control_plane
from e2e.nodes import FAKE, POOL, make_nodes
from e2e.objects import QUEUE_NAME, Pods, cluster_queue, flavor, job, local_queue, workload_priority
from e2e.product import install
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World, new_world

JOBSET = "jobset.x-k8s.io/v1alpha2/JobSet"
SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def simulated(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own where JobSets run and are queued."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 4, labels=POOL)
        install(cluster)
        frameworks = {"integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]}}
        with jobset(cluster), launching(cluster) as launch:
            launch("jobsets", frameworks)
            yield cluster


@pytest.fixture
def space(simulated: Cluster) -> Iterator[World]:
    made = new_world(simulated)
    made.make(
        flavor(made.name("any"), nodeLabels=POOL, tolerations=[SPOT]),
        cluster_queue(
            made.name("cq"),
            {made.name("any"): {"cpu": "5"}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(made.namespace, "team", made.name("cq")),
        workload_priority(made.name("urgent"), 1000),
    )
    made.wait_for_queue("team")
    yield made
    made.leave()


def job_set(space: World, pods: Pods) -> Object:
    """Return a JobSet of a driver and two workers of two pods each: five CPUs."""
    replicated = [
        {"name": "driver", "template": {"spec": {"template": pods.template()}}},
        {
            "name": "workers",
            "replicas": 2,
            "template": {
                "spec": {
                    "parallelism": 2,
                    "completions": 2,
                    "backoffLimit": 0,
                    "template": pods.template(),
                }
            },
        },
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": "train",
            "namespace": space.namespace,
            "labels": {QUEUE_NAME: "team"},
        },
        "spec": {"suspend": True, "replicatedJobs": replicated},
    }


def stored(space: World) -> Object:
    return space.api.get(JOBSET, "train", space.namespace)


def wait_set(space: World, *, suspended: bool) -> Object:
    return space.api.wait_one(
        JOBSET,
        "train",
        lambda one: bool(one["spec"].get("suspend")) is suspended,
        namespace=space.namespace,
        what="suspended" if suspended else "unsuspended",
    )


def workload(space: World, condition_type: str) -> Object:
    """Wait until the one Workload of the JobSet has a condition that is True."""

    def has_it(found: list[Object]) -> bool:
        mine = [one for one in found if one["metadata"]["name"].startswith("jobset-train-")]
        return len(mine) == 1 and holds(mine[0], condition_type)

    found = space.api.wait("Workload", has_it, namespace=space.namespace, what=condition_type)
    return next(one for one in found if one["metadata"]["name"].startswith("jobset-train-"))


def pods(space: World) -> list[Object]:
    return [
        one
        for one in space.api.items("Pod", space.namespace)
        if one["status"]["phase"] == "Running" and "train-" in one["metadata"]["name"]
    ]


def test_a_jobset_is_preempted_comes_back_as_it_was_and_is_deleted(space: World) -> None:
    space.make(job_set(space, Pods(run_s=None)))
    before = stored(space)["spec"]
    admitted = workload(space, "Admitted")
    named = [(one["name"], one["count"]) for one in admitted["spec"]["podSets"]]
    assert named == [("driver", 1), ("workers", 4)]
    workload(space, "PodsReady")
    assert len(pods(space)) == 5
    for pod in pods(space):
        assert pod["spec"]["nodeSelector"].items() >= {FAKE: "fake", **POOL}.items()
        assert pod["metadata"]["labels"]["kueue.x-k8s.io/podset"] in ("driver", "workers")
    # The Jobs of the JobSet have no Workloads of their own.
    assert len(space.api.items("Workload", space.namespace)) == 1

    labels = {"kueue.x-k8s.io/priority-class": space.name("urgent")}
    space.make(job(space.namespace, "urgent", queue="team", labels=labels, pods=Pods(run_s=None)))
    assert wait_set(space, suspended=True)["spec"] == before
    wait_job(space, "urgent", running, "running in its place")
    assert pods(space) == []
    assert condition(workload(space, "Evicted"), "Evicted")["reason"] == "Preempted"

    space.api.delete("Job", "urgent", space.namespace)
    wait_set(space, suspended=False)
    workload(space, "PodsReady")
    space.api.delete(JOBSET, "train", space.namespace)
    wait_nothing_left(space)


@pytest.mark.parametrize(
    ("ending", "reason"), [(Pods(run_s=1), "Succeeded"), (Pods(run_s=None, fail_s=1), "Failed")]
)
def test_a_jobset_that_ends_frees_its_quota(space: World, ending: Pods, reason: str) -> None:
    space.make(job_set(space, ending))
    assert condition(workload(space, "Finished"), "Finished")["reason"] == reason
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    space.api.delete(JOBSET, "train", space.namespace)
    wait_nothing_left(space)


def wait_nothing_left(space: World) -> None:
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
