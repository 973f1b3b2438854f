"""A row for each built-in kind: an object as users write it, and all that is said of it."""

from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from queueing.kinds.paths import value_at
from queueing.kinds.registry import kind_of
from queueing.kinds.view import View, read
from queueing.translate.jobs.injection import Injection, Original
from queueing.translate.jobs.patches import JsonPatch, MergePatch, Patch
from queueing.translate.wire.pods import Toleration

SAMPLES = Path(__file__).parent / "samples"
Wire = dict[str, Any]


def true(kind: str, message: str = "") -> Wire:
    """Return a status with one condition that is True."""
    return {"conditions": [{"type": kind, "status": "True", "message": message}]}


@dataclass(frozen=True, kw_only=True)
class Row:
    framework: str
    sample: str
    pod_sets: dict[str, int]
    """Name and count, in order."""
    injected: tuple[str, ...]
    """For each pod set, the place of its labels in the started object."""
    statuses: dict[str, Wire] = field(default_factory=dict)
    """Statuses in which the object is active, ready, succeeded, failed; or reclaimable."""
    messages: dict[str, str] = field(default_factory=dict)
    """Messages of the ends."""
    reclaimable: dict[str, int] = field(default_factory=dict)
    priority_class: str = ""
    related: str = ""
    patch: type[Patch] = MergePatch
    stopped_by: str = "suspension"


JOB_SETS = "spec.replicatedJobs"
RAY_HEAD, RAY_WORKERS = "headGroupSpec.template.metadata.labels", "workerGroupSpecs"
LABELS = "template.metadata.labels"
TRAINING = {
    "active": {"replicaStatuses": {"Worker": {"active": 2}}},
    "ready": true("Running"),
    "succeeded": true("Succeeded", "learned"),
    "failed": true("Failed", "diverged"),
}
LEARNED = {"succeeded": "learned", "failed": "diverged"}


def training(kind: str, prefix: str, **counts: int) -> Row:
    return Row(
        framework=f"kubeflow.org/{kind}",
        sample=kind,
        pod_sets={name.lower(): count for name, count in counts.items()},
        injected=tuple(f"spec.{prefix}ReplicaSpecs.{name}.{LABELS}" for name in counts),
        statuses=TRAINING,
        messages=LEARNED,
    )


ROWS = (
    Row(
        framework="batch/job",
        sample="job",
        pod_sets={"main": 6},
        injected=("spec.template.metadata.labels",),
        statuses={
            "active": {"terminating": 1},
            "ready": {"ready": 3, "succeeded": 2, "uncountedTerminatedPods": {"succeeded": ["u"]}},
            "succeeded": true("Complete", "all frames"),
            "failed": true("Failed", "no space left"),
            "reclaimable": {"completedIndexes": "0-1,9", "failedIndexes": "1,4"},
        },
        messages={"succeeded": "all frames", "failed": "no space left"},
        reclaimable={"main": 3},
    ),
    Row(
        framework="jobset.x-k8s.io/jobset",
        sample="jobset",
        pod_sets={"driver": 1, "workers": 6},
        injected=tuple(f"{JOB_SETS}[{at}].template.spec.{LABELS}" for at in (0, 1)),
        statuses={
            "active": {"replicatedJobsStatus": [{"name": "workers", "active": 1}]},
            "ready": {
                "replicatedJobsStatus": [
                    {"name": "driver", "ready": 1},
                    {"name": "workers", "ready": 1, "succeeded": 1},
                ]
            },
            "succeeded": true("Completed", "jobset completed successfully"),
            "failed": true("Failed", "a job failed"),
            "reclaimable": {
                "replicatedJobsStatus": [
                    {"name": "driver", "succeeded": 0},
                    {"name": "workers", "succeeded": 1},
                ]
            },
        },
        messages={"succeeded": "jobset completed successfully", "failed": "a job failed"},
        reclaimable={"workers": 3},
        priority_class="training",
        patch=JsonPatch,
    ),
    Row(
        framework="kubeflow.org/mpijob",
        sample="mpijob",
        pod_sets={"launcher": 1, "worker": 4},
        injected=tuple(f"spec.mpiReplicaSpecs.{name}.{LABELS}" for name in ("Launcher", "Worker")),
        statuses=TRAINING,
        messages=LEARNED,
        priority_class="training",
    ),
    training("pytorchjob", "pytorch", Master=1, Worker=3),
    training("tfjob", "tf", Chief=1, PS=2, Worker=4, Evaluator=1),
    training("mxjob", "mx", Scheduler=1, Server=2, Worker=4),
    training("xgboostjob", "xgb", Master=1, Worker=2),
    training("paddlejob", "paddle", Worker=2),
    training("jaxjob", "jax", Worker=8),
    Row(
        framework="trainer.kubeflow.org/trainjob",
        sample="trainjob",
        related="trainjob-runtime",
        pod_sets={"dataset-initializer": 1, "node": 4},
        injected=tuple(
            f"spec.runtimePatches[1].trainingRuntimeSpec.template.{JOB_SETS}[{at}]"
            f".template.spec.{LABELS}"
            for at in (0, 1)
        ),
        statuses={
            "active": {"jobsStatus": [{"name": "node", "active": 1}]},
            "ready": {
                "jobsStatus": [
                    {"name": "dataset-initializer", "succeeded": 1},
                    {"name": "node", "ready": 1},
                ]
            },
            "succeeded": true("Complete", "trained"),
            "failed": true("Failed", "lost a node"),
            "reclaimable": {"jobsStatus": [{"name": "dataset-initializer", "succeeded": 1}]},
        },
        messages={"succeeded": "trained", "failed": "lost a node"},
        reclaimable={"dataset-initializer": 1},
        patch=JsonPatch,
    ),
    Row(
        framework="ray.io/raycluster",
        sample="raycluster",
        pod_sets={"head": 1, "cpu": 3, "tpu": 8},
        injected=(
            f"spec.{RAY_HEAD}",
            *(f"spec.{RAY_WORKERS}[{at}].{LABELS}" for at in (0, 1)),
        ),
        statuses={"active": {"state": "ready"}, "ready": {"state": "ready"}},
        patch=JsonPatch,
    ),
    Row(
        framework="ray.io/rayjob",
        sample="rayjob",
        pod_sets={"head": 1, "small": 1, "submitter": 1},
        injected=(
            f"spec.rayClusterSpec.{RAY_HEAD}",
            f"spec.rayClusterSpec.{RAY_WORKERS}[0].{LABELS}",
            "spec.submitterPodTemplate.metadata.labels",
        ),
        statuses={
            "active": {"jobDeploymentStatus": "Initializing"},
            "ready": {"rayClusterStatus": {"state": "ready"}, "jobDeploymentStatus": "Running"},
            "succeeded": {
                "jobDeploymentStatus": "Complete",
                "jobStatus": "SUCCEEDED",
                "message": "Job finished.",
            },
            "failed": {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": "oom"},
        },
        messages={"succeeded": "Job finished.", "failed": "oom"},
        patch=JsonPatch,
    ),
    Row(
        framework="ray.io/rayservice",
        sample="rayservice",
        pod_sets={"head": 1},
        injected=(f"spec.rayClusterConfig.{RAY_HEAD}",),
        statuses={"active": true("Ready"), "ready": true("Ready")},
    ),
    Row(
        framework="sparkoperator.k8s.io/sparkapplication",
        sample="sparkapplication",
        pod_sets={"driver": 1, "executor": 3},
        injected=("spec.driver.labels", "spec.executor.labels"),
        statuses={
            "active": {"applicationState": {"state": "RUNNING"}},
            "ready": {
                "applicationState": {"state": "RUNNING"},
                "executorState": {"e-1": "RUNNING", "e-2": "COMPLETED", "e-3": "RUNNING"},
            },
            "succeeded": {"applicationState": {"state": "COMPLETED"}},
            "failed": {"applicationState": {"state": "FAILED", "errorMessage": "driver died"}},
        },
        messages={"succeeded": "", "failed": "driver died"},
    ),
    Row(
        framework="workload.codeflare.dev/appwrapper",
        sample="appwrapper",
        pod_sets={"bundle-0": 1, "bundle-1": 2, "bundle-2": 5},
        injected=(
            "spec.components[1].podSetInfos[0].labels",
            "spec.components[1].podSetInfos[1].labels",
            "spec.components[2].podSetInfos[0].labels",
        ),
        statuses={
            "active": true("QuotaReserved"),
            "ready": true("PodsReady"),
            "succeeded": {"phase": "Succeeded"},
            "failed": {
                "phase": "Failed",
                "conditions": [{"type": "ResourcesDeployed", "status": "False"}],
            },
        },
        messages={
            "succeeded": "AppWrapper finished successfully",
            "failed": "AppWrapper failed",
        },
        patch=JsonPatch,
    ),
    Row(
        framework="leaderworkerset.x-k8s.io/leaderworkerset",
        sample="leaderworkerset",
        pod_sets={"leader": 1, "worker": 3},
        injected=(),
        statuses={"active": {"replicas": 1}, "ready": {"replicas": 2, "readyReplicas": 2}},
        stopped_by="pods",
    ),
    Row(
        framework="statefulset",
        sample="statefulset",
        pod_sets={"main": 3},
        injected=(),
        statuses={"active": {"replicas": 1}, "ready": {"replicas": 3, "readyReplicas": 3}},
        stopped_by="pods",
    ),
    Row(
        framework="deployment",
        sample="deployment",
        pod_sets={"main": 1},
        injected=(),
        statuses={"active": {"replicas": 1}},
        stopped_by="pods",
    ),
    Row(
        framework="pod",
        sample="pod",
        pod_sets={"main": 1},
        injected=("metadata.labels",),
        statuses={
            "active": {"phase": "Running", **true("PodScheduled")},
            "ready": {"phase": "Running", **true("Ready")},
            "succeeded": {"phase": "Succeeded"},
            "failed": {"phase": "Failed", "message": "evicted by the node"},
        },
        messages={"succeeded": "", "failed": "evicted by the node"},
        priority_class="interactive",
        stopped_by="deletion",
    ),
)


@cache
def loaded(name: str) -> Wire:
    found: Wire = yaml.safe_load((SAMPLES / f"{name}.yaml").read_text())
    return found


def sample(row: Row, **more: Any) -> Wire:
    """Return the object of a row, with other fields."""
    return {**deepcopy(loaded(row.sample)), **more}


def unplace(value: Any) -> None:
    """Take away what asks for a placement by topology: nobody would be admitted."""
    for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if key == "kueue.x-k8s.io/podset-required-topology":
            del value[key]
        elif isinstance(one, dict | list):
            unplace(one)


def viewed(row: Row, thing: Wire) -> View:
    related = loaded(row.related) if row.related else None
    return read(kind_of(row.framework), msgspec.json.encode(thing), related=related)


def additions(row: Row, *, count: int | None = None) -> list[Injection]:
    """Return what an admission adds to each pod set of a row."""
    return [
        Injection(
            labels={"kueue.x-k8s.io/podset": name},
            annotations={"kueue.x-k8s.io/workload": "w"},
            node_selector={"cloud.example.com/pool": "spot"},
            tolerations=(Toleration(key="spot", operator="Exists", effect="NoSchedule"),),
            scheduling_gates=("kueue.x-k8s.io/topology",),
            count=wanted if count is None else count,
        )
        for name, wanted in row.pod_sets.items()
    ]


def originals(view: View) -> list[Original]:
    """Return the pod sets as a Workload keeps them."""
    return [
        Original(
            template=msgspec.json.decode(msgspec.json.encode(one.wire()["template"])),
            count=one.count,
        )
        for one in view.pod_sets
    ]


def at(thing: Wire, path: str) -> Any:
    """Return what is at a path with indexes, such as `spec.jobs[0].name`."""
    steps = (
        int(one) if one.isdecimal() else one
        for one in path.replace("[", ".").replace("]", "").split(".")
    )
    return value_at(thing, tuple(steps))


def applied(thing: Wire, patch: Patch | None) -> Wire:
    """Return an object with a patch, as an API server applies it."""
    made = deepcopy(thing)
    if isinstance(patch, MergePatch):
        _merge(made, msgspec.to_builtins(patch.body))
    elif isinstance(patch, JsonPatch):
        import jsonpatch  # noqa: PLC0415

        made = jsonpatch.apply_patch(made, msgspec.to_builtins(list(patch.operations)))
    return made


def _merge(into: Wire, patch: Wire) -> None:
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict):
            if not isinstance(into.get(key), dict):
                into[key] = {}
            _merge(into[key], value)
        else:
            into[key] = value
