"""Kinds of Kubeflow in a queue, under their own controllers: from creation to the end."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from e2e import job_controllers
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.contended import make_contended_queue
from e2e.controlplane.build import Binaries
from e2e.jobs import owned_by, running, wait_job, wait_workload_of
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import PRIORITY_CLASS, QUEUE_NAME, Pods, job
from e2e.product import install
from e2e.quota import wait_nothing_held
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World, new_world
from queueing.kinds.registry import kind_of

JOB_SET = "jobset.x-k8s.io/v1alpha2/JobSet"
ENDED = frozenset({"Succeeded", "Failed"})
CPU = "3"
TRAIN_JOB = "trainer.kubeflow.org/trainjob"
TRAIN_JOBS = "trainjobs.trainer.kubeflow.org"
KEPT = {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
MPI_JOB, PYTORCH_JOB, TF_JOB = (f"kubeflow.org/{one}" for one in ("mpijob", "pytorchjob", "tfjob"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kind: what an object of it says, and the pods that are made of it."""

    framework: str
    suspend: tuple[str, ...]
    spec: Callable[[Pods], Object]
    pod_sets: dict[str, int]
    is_current: bool = True
    """Whether its controller, of the version that can be built, puts what a start writes on the
    pods, and counts pods in the status."""

    @property
    def kind(self) -> str:
        found = kind_of(self.framework)
        return f"{found.api_version}/{found.name}"


def replicas(container: str, **counts: int) -> Callable[[Pods], Object]:
    """Return what makes the replica specs of so many pods by type."""

    def make(pods: Pods) -> Object:
        template = pods.template()
        template["spec"]["containers"][0]["name"] = container
        return {
            name: {"replicas": count, "restartPolicy": "Never", "template": template}
            for name, count in counts.items()
        }

    return make


def training(pods: Pods) -> Object:
    """Return a TrainJob, whose pods are those of the runtime."""
    del pods
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "plain"}
    return {"suspend": True, "runtimeRef": reference, "trainer": {"numNodes": 3}}


def runtime(pods: Pods) -> Object:
    """Return a runtime of one Job that trains."""
    template = pods.template()
    template["spec"]["containers"][0]["name"] = "node"
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    job_spec = {"backoffLimit": 0, "template": template}
    node = {"name": "node", "template": {"metadata": step, "spec": job_spec}}
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [node]}}}
    named = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime"}
    return {**named, "metadata": {"name": "plain"}, "spec": spec}


def policy(field: str, make: Callable[[Pods], Object], **more: Any) -> Callable[[Pods], Object]:
    return lambda pods: {
        "runPolicy": {"suspend": True, "cleanPodPolicy": "None", "backoffLimit": 0},
        field: make(pods),
        **more,
    }


ROWS = (
    Row(
        framework=MPI_JOB,
        suspend=("runPolicy",),
        spec=policy("mpiReplicaSpecs", replicas("mpi", Launcher=1, Worker=2)),
        pod_sets={"launcher": 1, "worker": 2},
    ),
    Row(
        framework=PYTORCH_JOB,
        suspend=("runPolicy",),
        spec=policy("pytorchReplicaSpecs", replicas("pytorch", Master=1, Worker=2)),
        pod_sets={"master": 1, "worker": 2},
    ),
    Row(
        framework=TF_JOB,
        suspend=("runPolicy",),
        spec=policy("tfReplicaSpecs", replicas("tensorflow", Chief=1, Worker=2)),
        pod_sets={"chief": 1, "worker": 2},
    ),
    Row(
        framework=TRAIN_JOB,
        suspend=(),
        spec=training,
        pod_sets={"node": 3},
        is_current=False,
    ),
)


@pytest.fixture(scope="module")
def queued(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own with the controllers, and a replica that queues the kinds."""
    frameworks = ["batch/job", *(row.framework for row in ROWS)]
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 4, labels=POOL)
        install(cluster)
        with (
            job_controllers.mpi(cluster),
            job_controllers.training(cluster, "PyTorchJob", "TFJob"),
            job_controllers.jobset(cluster),
            job_controllers.trainer(cluster),
            launching(cluster) as launch,
        ):
            launch("real", {"integrations": {"frameworks": frameworks}})
            yield cluster


@pytest.fixture
def space(queued: Cluster) -> Iterator[World]:
    made = new_world(queued)
    make_contended_queue(made, {"cpu": CPU})
    yield made
    made.leave()


def keep_patches(space: World, *, kept: bool) -> None:
    """Let the definition of TrainJobs have runtime patches, as those of later versions do, or not.

    The controller of the version that can be built does not know them, and makes pods without.
    """
    definition = space.api.get("CustomResourceDefinition", TRAIN_JOBS)
    (version,) = definition["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields.pop("runtimePatches", None)
    if kept:
        fields["runtimePatches"] = KEPT
    space.api.replace(definition)

    def keeps() -> bool:
        tried = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
        spec = {**training(Pods()), "runtimePatches": [{"manager": "tests.example.com/x"}]}
        path = f"/apis/trainer.kubeflow.org/v1alpha1/namespaces/{space.namespace}/trainjobs"
        body = {**tried, "metadata": {"name": "tried"}, "spec": spec}
        made = space.api.wire.call("POST", path, query={"dryRun": "All"}, body=body)
        return ("runtimePatches" in made["spec"]) is kept

    until(keeps, "the definition is in force")


def create(space: World, row: Row, name: str, pods: Pods) -> Object:
    if row.framework == TRAIN_JOB:
        keep_patches(space, kept=True)
        apply_runtime(space, pods)
    body = body_of(space, row, name, pods)
    if row.framework != TRAIN_JOB:
        return space.api.create(body)
    # This trainer leaves a JobSet suspended for ever if its TrainJob is resumed while it makes it.
    hold(space, "Hold")
    made = space.api.create(body)
    wait(space, row, name, lambda one: holds(one, "Suspended"), "suspended by its controller")
    space.api.wait(
        JOB_SET,
        lambda found: any(holds(one, "Suspended") for one in found),
        namespace=space.namespace,
        what="a JobSet that waits",
    )
    hold(space, "None")
    return made


def apply_runtime(space: World, pods: Pods) -> None:
    made = runtime(pods)
    made["metadata"]["namespace"] = space.namespace
    space.api.apply(made)


def body_of(space: World, row: Row, name: str, pods: Pods) -> Object:
    """Return an object in the queue."""
    api_version, _, kind = row.kind.rpartition("/")
    meta = {"name": name, "namespace": space.namespace, "labels": {QUEUE_NAME: "team"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": row.spec(pods)}


def hold(space: World, policy: str) -> None:
    """Stop or open the queue, and wait until that is in force."""
    patch = {"spec": {"stopPolicy": policy}}
    space.api.patch("LocalQueue", "team", patch, namespace=space.namespace)
    space.api.wait(
        "LocalQueue",
        lambda found: all(holds(one, "Active") is (policy == "None") for one in found),
        namespace=space.namespace,
        name="team",
        what=f"stopPolicy {policy} in force",
    )


def is_suspended(row: Row, one: Object) -> bool:
    place = one["spec"]
    for step in row.suspend:
        place = place[step]
    return bool(place["suspend"])


def wait(space: World, row: Row, name: str, holds_: Callable[[Object], bool], what: str) -> Object:
    return space.api.wait_one(row.kind, name, holds_, namespace=space.namespace, what=what)


def pods_of(space: World, thing: Object) -> list[Object]:
    """Return the pods of an object, and of what it owns."""
    owners = {thing["metadata"]["uid"]}
    for kind in (JOB_SET, "Job"):
        owners |= {
            one["metadata"]["uid"]
            for one in space.api.items(kind, space.namespace)
            if any(owned_by(one, uid) for uid in owners)
        }
    pods = space.api.items("Pod", space.namespace)
    return [one for one in pods if any(owned_by(one, uid) for uid in owners)]


def wait_pods_run(space: World, row: Row, thing: Object) -> Object:
    """Wait until all pods of an object run, and its Workload says so if the controller tells."""

    def run() -> bool:
        pods = [one for one in pods_of(space, thing) if one["status"]["phase"] == "Running"]
        return len(pods) == sum(row.pod_sets.values())

    until(run, "all pods run")
    told = "PodsReady" if row.is_current else "Admitted"
    return wait_workload_of(space, thing, lambda one: holds(one, told), told)


@pytest.mark.parametrize("row", ROWS, ids=[one.framework for one in ROWS])
def test_an_object_runs_is_preempted_comes_back_as_it_was_and_succeeds(
    space: World, row: Row
) -> None:
    before = create(space, row, "train", Pods(run_s=None))
    workload = wait_pods_run(space, row, before)
    pod_sets = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
    assert pod_sets == row.pod_sets
    pods = pods_of(space, before)
    assert len(pods) == sum(row.pod_sets.values())
    if row.is_current:
        names = Counter(one["metadata"]["labels"]["kueue.x-k8s.io/podset"] for one in pods)
        assert names == row.pod_sets
        for one in pods:
            assert any(found.get("key") == "spot" for found in one["spec"]["tolerations"])

    labels = {PRIORITY_CLASS: space.name("urgent")}
    urgent = job(
        space.namespace, "urgent", queue="team", labels=labels, parallelism=3, pods=Pods(run_s=3)
    )
    space.make(urgent)
    wait(space, row, "train", lambda one: one["spec"] == before["spec"], "stopped and restored")
    wait_job(space, "urgent", running, "running in its place")
    assert all(one["status"]["phase"] in ENDED for one in pods_of(space, before))
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")
    wait(space, row, "train", lambda one: not is_suspended(row, one), "started again")
    wait_pods_run(space, row, before)
    space.api.delete(row.kind, "train", space.namespace)
    for kind in ("Pod", "Workload"):
        space.api.wait(
            kind,
            lambda left: not [one for one in left if "urgent" not in one["metadata"]["name"]],
            namespace=space.namespace,
            what=f"no {kind} of it",
        )


@pytest.mark.parametrize("row", ROWS, ids=[one.framework for one in ROWS])
@pytest.mark.parametrize("outcome", ["Succeeded", "Failed"])
def test_how_an_object_ends_is_told_and_frees_its_quota(
    space: World, row: Row, outcome: str
) -> None:
    pods = Pods(run_s=1) if outcome == "Succeeded" else Pods(run_s=None, fail_s=1)
    made = create(space, row, "train", pods)
    over = wait_workload_of(space, made, lambda one: holds(one, "Finished"), "finished")
    told = condition(over, "Finished")
    assert told["reason"] == outcome
    assert told["message"]
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_trainjob_whose_definition_cannot_hold_a_start_fails_to_start_and_says_so(
    space: World,
) -> None:
    row = ROWS[-1]
    apply_runtime(space, Pods())
    keep_patches(space, kept=False)
    thing = space.api.create(body_of(space, row, "old", Pods()))
    over = wait_workload_of(space, thing, lambda one: holds(one, "Finished"), "finished")
    told = condition(over, "Finished")
    assert told["reason"] == "FailedToStart"
    assert "its definition is older" in told["message"]
    assert space.api.get(row.kind, "old", space.namespace)["spec"]["suspend"]
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
