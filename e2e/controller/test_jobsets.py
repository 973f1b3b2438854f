"""JobSets in a queue, under their own controller and webhooks: what the table leaves out."""

from collections.abc import Callable, Iterator

import pytest

from e2e.api import condition, holds
from e2e.checkpoints.training import TERMS, answer, wait_phase
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.contended import SPOT, make_contended_queue
from e2e.controlplane.build import Binaries
from e2e.devices.hardware import H100, LABEL, device_class, gpus, rack
from e2e.devices.shapes import GPU, UID, allocated, device_flavor, make_known, wait_no_claims
from e2e.job_controllers import jobset
from e2e.jobs import JOB_UID, running, wait_job, wait_workload_of
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import (
    PRIORITY_CLASS,
    QUEUE_NAME,
    Pods,
    checkpoint_policy,
    cluster_queue,
    flavor,
    job,
    local_queue,
)
from e2e.product import install
from e2e.quota import wait_nothing_held
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World, new_world

FRAMEWORKS = ["batch/job", "jobset.x-k8s.io/jobset"]
JOBSET = "jobset.x-k8s.io/v1alpha2/JobSet"
GANG, SIZE = "queueing.dev/gang", "queueing.dev/gang-size"
POLICY = "queueing.dev/checkpoint-policy"


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
    make_contended_queue(made, {"cpu": "5"})
    yield made
    made.leave()


def job_set(space: World, name: str, *, drivers: Pods, workers: Pods) -> Object:
    """Return a JobSet of a driver and two workers of two pods each."""
    replicated = [
        {"name": "driver", "template": {"spec": {"template": drivers.template()}}},
        {
            "name": "workers",
            "replicas": 2,
            "template": {
                "spec": {
                    "parallelism": 2,
                    "completions": 2,
                    "backoffLimit": 0,
                    "template": workers.template(),
                }
            },
        },
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"suspend": True, "replicatedJobs": replicated},
    }


def queue_jobset(space: World, name: str, *, workers: Pods, suspend: bool = True) -> Object:
    """Create a JobSet of a driver and four workers, which asks for 5 cpu."""
    made = job_set(space, name, drivers=workers, workers=workers)
    made["metadata"]["labels"] = {QUEUE_NAME: "team"}
    made["spec"]["suspend"] = suspend
    return space.api.create(made)


def wait(space: World, name: str, holds_: Callable[[Object], bool], what: str) -> Object:
    return space.api.wait_one(JOBSET, name, holds_, namespace=space.namespace, what=what)


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
    wait_workload_of(
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


def test_quota_of_workers_that_have_succeeded_is_free_before_the_end(space: World) -> None:
    thing = job_set(space, "train", drivers=Pods(run_s=None), workers=Pods(run_s=1))
    thing["metadata"]["labels"] = {QUEUE_NAME: "team"}
    made = space.api.create(thing)
    wait_workload_of(
        space,
        made,
        lambda one: (
            one.get("status", {}).get("reclaimablePods") == [{"name": "workers", "count": 4}]
        ),
        "the workers' quota is free",
    )
    space.make(job(space.namespace, "next", queue="team", parallelism=4, pods=Pods(run_s=1)))
    wait_job(space, "next", lambda one: holds(one, "Complete"), "complete beside it")


def queued_set(space: World, *, workers: Pods) -> Object:
    """Return the JobSet `train` of a driver and four workers, in the queue."""
    drivers = Pods(cpu=workers.cpu, run_s=workers.run_s)
    made = job_set(space, "train", drivers=drivers, workers=workers)
    made["metadata"] |= {"labels": {QUEUE_NAME: "team"}, "annotations": {}}
    return made


def make_urgent(space: World, cpu: str = "5") -> None:
    labels = {PRIORITY_CLASS: space.name("urgent")}
    pods = Pods(cpu=cpu, run_s=5)
    space.make(job(space.namespace, "urgent", queue="team", labels=labels, pods=pods))


def of_gang(made: Object) -> Object:
    meta = made["metadata"]
    meta["labels"] = {**meta.get("labels", {}), GANG: "g"}
    meta["annotations"] = {**meta.get("annotations", {}), SIZE: "2"}
    return made


def test_a_jobset_and_a_job_start_stop_and_end_as_one(space: World) -> None:
    small = Pods(cpu="500m", run_s=8)
    made = space.api.create(of_gang(queued_set(space, workers=small)))
    feed = job(space.namespace, "feed", queue="team", pods=Pods(run_s=8))
    before = space.api.create(of_gang(feed))["spec"]["template"]
    wait_job(space, "feed", running, "running")
    wait(space, "train", lambda one: not one["spec"]["suspend"], "started")
    (workload,) = space.api.items("Workload", space.namespace)
    name = workload["metadata"]["name"]
    counts = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
    assert counts == {"feed": 1, "train-driver": 1, "train-workers": 4}
    make_urgent(space)
    wait(space, "train", lambda one: one["spec"] == made["spec"], "stopped and restored")
    wait_job(space, "feed", lambda one: one["spec"]["template"] == before, "restored")
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete in their place")
    wait(space, "train", lambda one: holds(one, "Completed"), "completed")
    wait_job(space, "feed", lambda one: holds(one, "Complete"), "complete")
    space.api.wait(
        "Workload",
        lambda found: any(
            one["metadata"]["name"] == name and holds(one, "Finished") for one in found
        ),
        namespace=space.namespace,
        what="finished as one",
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_preempted_jobset_saves_first_and_returns_where_it_was(space: World) -> None:
    space.make(checkpoint_policy(space.namespace, "save", TERMS))
    thing = queued_set(space, workers=Pods(run_s=None))
    thing["metadata"]["annotations"][POLICY] = "save"
    made = space.api.create(thing)
    wait_workload_of(space, made, lambda one: holds(one, "PodsReady"), "pods ready")
    make_urgent(space)
    asked = wait_phase(space, "Notified", "Saving")
    assert len(asked["status"]["asked"]) == 5
    assert not any(one["spec"]["suspend"] for one in space.api.items("Job", space.namespace)[:-1])
    answer(space, "Saved")
    wait(space, "train", lambda one: one["spec"]["suspend"], "stopped when all have saved")
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete in its place")
    back = wait(space, "train", lambda one: not one["spec"]["suspend"], "started again")
    for replicated in back["spec"]["replicatedJobs"]:
        notes = replicated["template"]["spec"]["template"]["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-step"] == "40"
    assert wait_phase(space, "Requeued")["status"]["outcome"] == "Saved"


def test_pods_of_a_jobset_get_their_devices_by_claims(space: World) -> None:
    with rack(space.api, space.prefix) as racks:
        name = space.name("h100")
        racks.add("h100", [{"devices": gpus(H100, 8)}])
        space.make(
            device_class(space.name("gpu")),
            flavor(name, nodeLabels={LABEL: racks.label("h100")}),
        )
        make_known(space, device_flavor(name, space.name("gpu")))
        space.make(
            cluster_queue(space.name("gpus"), {name: {"cpu": "10", GPU: "8"}}),
            local_queue(space.namespace, "gpus", space.name("gpus")),
        )
        space.wait_for_queue("gpus")
        thing = queued_set(space, workers=Pods(requests={GPU: "2"}, run_s=None))
        thing["metadata"]["labels"][QUEUE_NAME] = "gpus"
        made = space.api.create(thing)
        wait_workload_of(space, made, lambda one: holds(one, "PodsReady"), "pods ready")
        of_set = f"{JOB_UID}={made['metadata']['uid']}"
        (workload,) = space.api.items("Workload", space.namespace, labels=of_set)
        uid = f"{UID}={workload['metadata']['uid']}"
        claims = space.api.items("ResourceClaim", space.namespace, labels=uid)
        given = [device for one in claims for device in allocated(one)]
        assert len(claims) == 4
        assert len(set(given)) == len(given) == 8
        (template,) = space.api.items("ResourceClaimTemplate", space.namespace, labels=uid)
        assert template["metadata"]["ownerReferences"][0]["kind"] == "JobSet"
        space.api.delete(JOBSET, "train", space.namespace)
        wait_no_claims(space)
        wait_nothing_held(space.api, space.namespace, [space.name("gpus")])
