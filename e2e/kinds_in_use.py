"""Small objects of all kinds that are queued: how users make them, and change their size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from e2e.actors import APP_WRAPPER, JOB_SET, RAY_CLUSTER, RAY_JOB, TRAIN_JOB
from e2e.objects import PRIORITY_CLASS, QUEUE_NAME, Pods, job
from e2e.serving_kinds import LWS
from e2e.wire import Object
from e2e.world import World

GANG, GANG_SIZE = "queueing.dev/gang", "queueing.dev/gang-size"
GROUP, TOTAL = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"
ELASTIC = "kueue.x-k8s.io/elastic-job"
MEMBERS = 3
"""Pods of a group."""
LASTING = Pods(cpu="500m", run_s=None)
JOB, POD = "batch/v1/Job", "v1/Pod"
Spec = Callable[[Pods], Object]


@dataclass(frozen=True, slots=True)
class Scaling:
    """How the size of an object is changed; sizes stand with the pods that there are then."""

    patch: Callable[[int], Any]
    sizes: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What users make of a kind."""

    kind: str
    spec: Spec
    pod_sets: Mapping[str, int]
    """Of its first Workload."""
    workloads: int = 1
    parts: tuple[tuple[str, Spec], ...] = ()
    """Further objects beside the first, by kind."""
    suspend: tuple[str, ...] = ("suspend",)
    """Where in the spec it is suspended; empty for what is queued through pods."""
    notes: Mapping[str, str] = field(default_factory=dict)
    urgent: bool = False
    scaling: Scaling | None = None
    serves: bool = False
    """It runs until it is deleted."""
    operator: str = ""
    """Of a project of its own, which runs: `training` is Kubeflow's training operator. Empty where
    the controller is one of Kubernetes, or played."""

    @property
    def pods(self) -> int:
        """How many pods there are of it."""
        return self.workloads * sum(self.pod_sets.values())


def create(space: World, use: Use, name: str, pods: Pods) -> list[Object]:
    """Create what users make of a kind, in the queue `team`."""
    count = len(use.parts) + 1
    return [
        create_part(space, use, f"{name}-{at}" if use.parts else name, name, pods, part=at)
        for at in range(count)
    ]


def create_part(
    space: World, use: Use, name: str, whole: str, pods: Pods, *, part: int = 0
) -> Object:
    """Create one object of a gang or group, named as a whole, or one that is all by itself."""
    kind, spec_of = ((use.kind, use.spec), *use.parts)[part]
    spec = spec_of(pods)
    notes, labels = dict(use.notes), {QUEUE_NAME: "team"}
    if use.urgent:
        labels[PRIORITY_CLASS] = space.name("urgent")
    if kind == POD:
        notes |= pods.template()["metadata"]["annotations"]
    if use.parts and kind == POD:
        labels[GROUP] = whole
    elif use.parts:
        labels[GANG], notes[GANG_SIZE] = whole, str(len(use.parts) + 1)
    if use.suspend == ("suspend",):
        spec = {**spec, "suspend": True}
    if "selector" in spec:
        app = {"app": name}
        spec["selector"]["matchLabels"] = spec["template"]["metadata"]["labels"] = app
    if kind == APP_WRAPPER:
        spec["components"][0]["template"]["metadata"]["name"] = f"{name}-job"
    api_version, _, named = kind.rpartition("/")
    meta = {"name": name, "namespace": space.namespace, "labels": labels, "annotations": notes}
    body = {"apiVersion": api_version, "kind": named, "metadata": meta, "spec": spec}
    return space.api.create(body)


def set_of(pods: Pods) -> Object:
    job_spec = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": pods.template()}
    return {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": job_spec}}]}


def job_of(parallelism: int, **more: object) -> Spec:
    def make(pods: Pods) -> Object:
        spec: Object = job("any", "any", parallelism=parallelism, pods=pods)["spec"]
        return {**spec, **more}

    return make


def pod_of(pods: Pods) -> Object:
    spec: Object = pods.template()["spec"]
    return spec


def replicas(container: str, **counts: int) -> Spec:
    """Return what makes the replica specs of so many pods by type."""

    def make(pods: Pods) -> Object:
        template = pods.template()
        template["spec"]["containers"][0]["name"] = container
        return {
            name: {"replicas": count, "restartPolicy": "Never", "template": template}
            for name, count in counts.items()
        }

    return make


def kubeflow(kind: str, prefix: str, container: str, **counts: int) -> Use:
    """Return a kind of Kubeflow's training operator with so many pods by type."""
    make = replicas(container, **counts)

    def spec(pods: Pods) -> Object:
        run = {"suspend": True, "cleanPodPolicy": "None", "backoffLimit": 0}
        mode = {"jobMode": "MXTrain"} if prefix == "mx" else {}
        return {"runPolicy": run, **mode, f"{prefix}ReplicaSpecs": make(pods)}

    return Use(
        kind=f"kubeflow.org/{kind}",
        spec=spec,
        pod_sets={name.lower(): count for name, count in counts.items()},
        suspend=("runPolicy", "suspend"),
        operator="training",
    )


def training_of(pods: Pods) -> Object:
    """Return a TrainJob, whose pods are those of the runtime."""
    del pods
    runtime = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "ClusterTrainingRuntime",
        "name": "torch",
    }
    return {"runtimeRef": runtime}


def runtime_of(pods: Pods) -> Object:
    """Return the runtime that a TrainJob is made by, of three nodes."""
    template = pods.template()
    template["spec"]["containers"][0]["name"] = "node"
    job_spec = {"parallelism": 3, "completions": 3, "backoffLimit": 0, "template": template}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": job_spec}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"mlPolicy": {"numNodes": 3}, "template": {"spec": {"replicatedJobs": [node]}}},
    }


def cluster_of(pods: Pods) -> Object:
    """Return a cluster of a head and two workers, which run until they are deleted."""
    template = replace(pods, run_s=None).template()
    group = {"groupName": "small", "replicas": 2, "template": template}
    return {"headGroupSpec": {"template": template}, "workerGroupSpecs": [group]}


def ray_of(pods: Pods) -> Object:
    spec = {"submissionMode": "HTTPMode", "entrypoint": "train"}
    return {**spec, "rayClusterSpec": cluster_of(pods), "shutdownAfterJobFinishes": True}


def service_of(pods: Pods) -> Object:
    return {"rayClusterConfig": {**cluster_of(pods), "suspend": True}}


def wrapping_of(pods: Pods) -> Object:
    """Return what wraps a Job; its name is that of the wrapper, and `-job`."""
    wrapped = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "any"},
        "spec": job_of(3, suspend=False)(pods),
    }
    return {"components": [{"template": wrapped}]}


def spark_of(pods: Pods) -> Object:
    """Return an application of a driver and two executors."""
    notes = pods.template()["metadata"]["annotations"]
    own = {"cores": 1, "coreRequest": pods.cpu, "memory": "512m", "annotations": notes}
    return {
        "type": "Scala",
        "mode": "cluster",
        "image": "registry.example.com/spark:4.0",
        "mainApplicationFile": "local:///opt/job.jar",
        "driver": own,
        "executor": {**own, "instances": 2},
    }


def serving_of(count: int, **more: object) -> Spec:
    """Return the spec of a Deployment or StatefulSet; its name is added as a label."""

    def make(pods: Pods) -> Object:
        template = replace(pods, run_s=None).template()
        template["spec"]["restartPolicy"] = "Always"
        return {"replicas": count, "selector": {}, "template": template, **more}

    return make


def groups_of(pods: Pods) -> Object:
    """Return groups of a leader and a worker."""
    template = replace(pods, run_s=None).template()
    sized = {"size": 2, "leaderTemplate": template, "workerTemplate": template}
    return {"replicas": 1, "leaderWorkerTemplate": sized}


def size_at(name: str) -> Callable[[int], Any]:
    return lambda size: {"spec": {name: size}}


def workers(size: int) -> Any:
    return [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": size}]


MASTER = {"Master": 1, "Worker": 2}
USES: Mapping[str, Use] = MappingProxyType(
    {
        "job": Use(kind=JOB, spec=job_of(3), pod_sets={"main": 3}, urgent=True),
        "elastic": Use(
            kind=JOB,
            spec=job_of(1, completions=None),
            pod_sets={"main": 1},
            notes={ELASTIC: "true"},
            scaling=Scaling(size_at("parallelism"), {1: 1, 2: 2, 3: 3}),
        ),
        "gang": Use(
            kind=JOB,
            spec=job_of(1),
            parts=((JOB_SET, set_of),),
            pod_sets={"main": 1, "w": 4},
        ),
        "pod": Use(kind=POD, spec=pod_of, pod_sets={"main": 1}, suspend=(), urgent=True),
        "group": Use(
            kind=POD,
            spec=pod_of,
            pod_sets={"": MEMBERS},
            parts=((POD, pod_of),) * (MEMBERS - 1),
            suspend=(),
            notes={TOTAL: str(MEMBERS)},
        ),
        "jobset": Use(kind=JOB_SET, spec=set_of, pod_sets={"w": 4}, operator="jobset"),
        "mpi": replace(
            kubeflow("v2beta1/MPIJob", "mpi", "mpi", Launcher=1, Worker=2), operator="mpi"
        ),
        "pytorch": kubeflow("v1/PyTorchJob", "pytorch", "pytorch", **MASTER),
        "tf": kubeflow("v1/TFJob", "tf", "tensorflow", Chief=1, Worker=2),
        "xgboost": kubeflow("v1/XGBoostJob", "xgb", "xgboost", **MASTER),
        "mx": kubeflow("v1/MXJob", "mx", "mxnet", Scheduler=1, Server=1, Worker=1),
        "paddle": kubeflow("v1/PaddleJob", "paddle", "paddle", **MASTER),
        "jax": replace(kubeflow("v1/JAXJob", "jax", "jax", Worker=2), operator=""),
        "train": Use(kind=TRAIN_JOB, spec=training_of, pod_sets={"node": 3}, operator="trainer"),
        "ray": Use(kind=RAY_JOB, spec=ray_of, pod_sets={"head": 1, "small": 2}),
        "cluster": Use(
            kind=RAY_CLUSTER,
            spec=cluster_of,
            pod_sets={"head": 1, "small": 2},
            notes={ELASTIC: "true"},
            scaling=Scaling(workers, {2: 3, 1: 2, 3: 4}),
            serves=True,
        ),
        "service": Use(
            kind="ray.io/v1/RayService",
            spec=service_of,
            pod_sets={"head": 1, "small": 2},
            suspend=("rayClusterConfig", "suspend"),
            serves=True,
        ),
        "spark": Use(
            kind="sparkoperator.k8s.io/v1beta2/SparkApplication",
            spec=spark_of,
            pod_sets={"driver": 1, "executor": 2},
        ),
        "wrapper": Use(kind=APP_WRAPPER, spec=wrapping_of, pod_sets={"": 3}),
        "web": Use(
            kind="apps/v1/Deployment",
            spec=serving_of(2),
            pod_sets={"main": 1},
            workloads=2,
            suspend=(),
            scaling=Scaling(size_at("replicas"), {2: 2, 1: 1, 3: 3}),
            serves=True,
        ),
        "cache": Use(
            kind="apps/v1/StatefulSet",
            spec=serving_of(2, serviceName="cache"),
            pod_sets={"main": 2},
            suspend=(),
            scaling=Scaling(size_at("replicas"), {2: 2, 0: 0}),
            serves=True,
        ),
        "llm": Use(
            kind=LWS,
            spec=groups_of,
            pod_sets={"leader": 1, "worker": 1},
            suspend=(),
            scaling=Scaling(size_at("replicas"), {1: 2, 2: 4}),
            serves=True,
        ),
    }
)
"""All kinds, by a name of ours."""
