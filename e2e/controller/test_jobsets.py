"""JobSets in a queue, under their own controller and webhooks: from creation to the end."""

from collections.abc import Callable, Iterator

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.controlplane.build import Binaries
from e2e.job_controllers import jobset
from e2e.jobs import running, wait_job
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
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
from e2e.product import install
from e2e.quota import wait_nothing_held
from e2e.serving import until
from e2e.test_jobset import JOBSET, job_set
from e2e.wire import Object
from e2e.world import World, new_world

FRAMEWORKS = ["batch/job", "jobset.x-k8s.io/jobset"]
SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def queued(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own with JobSets, and a replica that queues them."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 4, labels=POOL)
        install(cluster)
        with jobset(cluster), launching(cluster) as launch:
            launch("jobsets", {"integrations": {"frameworks": FRAMEWORKS}})
            yield cluster


@pytest.fixture
def space(queued: Cluster) -> Iterator[World]:
    made = new_world(queued)
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


def queue_jobset(space: World, name: str, *, workers: Pods, suspend: bool = True) -> Object:
    """Create a JobSet of a driver and four workers, which asks for 5 cpu."""
    made = job_set(space, name, drivers=workers, workers=workers)
    made["metadata"]["labels"] = {QUEUE_NAME: "team"}
    made["spec"]["suspend"] = suspend
    return space.api.create(made)


def wait(space: World, name: str, holds_: Callable[[Object], bool], what: str) -> Object:
    return space.api.wait_one(JOBSET, name, holds_, namespace=space.namespace, what=what)


def wait_workload(space: World, thing: Object, holds_: Callable[[Object], bool], what: str) -> None:
    labels = f"kueue.x-k8s.io/job-uid={thing['metadata']['uid']}"
    space.api.wait(
        "Workload",
        lambda items: any(map(holds_, items)),
        namespace=space.namespace,
        labels=labels,
        what=what,
    )


def test_a_jobset_runs_on_the_nodes_of_its_flavor_and_frees_its_quota(space: World) -> None:
    def suspended() -> bool:
        eager = job_set(space, "eager", drivers=Pods(), workers=Pods())
        eager["metadata"]["labels"] = {QUEUE_NAME: "team"}
        eager["spec"]["suspend"] = False
        path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{space.namespace}/jobsets"
        made = space.api.wire.call("POST", path, query={"dryRun": "All"}, body=eager)
        return bool(made["spec"]["suspend"])

    until(suspended, "a policy suspends JobSets")
    made = queue_jobset(space, "train", workers=Pods(run_s=2), suspend=False)
    assert made["spec"]["suspend"]
    wait(space, "train", lambda one: holds(one, "Completed"), "completed")
    wait_workload(
        space, made, lambda one: condition(one, "Finished").get("reason") == "Succeeded", "finished"
    )
    pods = space.api.items("Pod", space.namespace)
    assert len(pods) == 5
    for one in pods:
        assert (
            SPOT.items()
            <= next(
                found for found in one["spec"]["tolerations"] if found.get("key") == "spot"
            ).items()
        )
    assert len(space.api.items("Workload", space.namespace)) == 1
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_preempted_jobset_is_stopped_and_comes_back_as_it_was(space: World) -> None:
    endless = Pods(run_s=None)
    made = queue_jobset(space, "train", workers=endless)
    wait(space, "train", lambda one: not one["spec"]["suspend"], "started")
    wait_workload(space, made, lambda one: holds(one, "PodsReady"), "pods ready")
    urgent = {PRIORITY_CLASS: space.name("urgent")}
    space.make(job(space.namespace, "urgent", queue="team", labels=urgent, pods=Pods(run_s=5)))
    wait(space, "train", lambda one: one["spec"] == made["spec"], "stopped and restored")
    wait_job(space, "urgent", running, "running in its place")
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")
    wait(space, "train", lambda one: not one["spec"]["suspend"], "started again")
    wait_workload(space, made, lambda one: holds(one, "PodsReady"), "pods ready again")


def test_quota_of_workers_that_have_succeeded_is_free_before_the_end(space: World) -> None:
    thing = job_set(space, "train", drivers=Pods(run_s=None), workers=Pods(run_s=1))
    thing["metadata"]["labels"] = {QUEUE_NAME: "team"}
    made = space.api.create(thing)
    wait_workload(
        space,
        made,
        lambda one: (
            one.get("status", {}).get("reclaimablePods") == [{"name": "workers", "count": 4}]
        ),
        "the workers' quota is free",
    )
    space.make(job(space.namespace, "next", queue="team", parallelism=4, pods=Pods(run_s=1)))
    wait_job(space, "next", lambda one: holds(one, "Complete"), "complete beside it")


def test_a_deleted_jobset_leaves_nothing(space: World) -> None:
    queue_jobset(space, "train", workers=Pods(run_s=None))
    wait(space, "train", lambda one: not one["spec"]["suspend"], "started")
    space.api.delete(JOBSET, "train", space.namespace)
    for kind in ("Pod", "Job", "Workload"):
        space.api.wait(kind, lambda left: not left, namespace=space.namespace, what=f"no {kind}")
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
