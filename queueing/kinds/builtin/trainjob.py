"""TrainJob: its pods are those of the JobSet that its runtime describes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, Related, RelatedKind, Seen
from queueing.kinds.paths import ABSENT, Document, put, value_at
from queueing.kinds.pod_sets import MissingError, PodSet, UnreadableError
from queueing.translate.jobs.injection import Injection, Original
from queueing.translate.jobs.pod_sets import JOB_INDEX
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    ManagedByRule,
    PodIndexes,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

GROUP = "trainer.kubeflow.org"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CLUSTER_RUNTIME, TRAINING_RUNTIME = "ClusterTrainingRuntime", "TrainingRuntime"
MANAGER = "kueue.x-k8s.io/manager"
"""Whose patch a start writes, in an object that came with one, as Kueue's webhook makes it."""
OWN_MANAGER = "queueing.dev/manager"
"""Whose patch a start makes in other objects, and a stop takes away."""
_STEP = f"{GROUP}/trainjob-ancestor-step"
_TRAINER, _NODE = "trainer", "node"
_STATUSES = "object.?status.jobsStatus.orValue([])"
_PATCHES, _PATCH_SPEC = ("spec", "runtimePatches"), "trainingRuntimeSpec"
_JOBS = ("template", "spec", "replicatedJobs")
_POD = ("template", "spec", "template")
_POD_SETS, _REFERENCE = ("spec", "podSets", 0), ("spec", "runtimeRef")
Values = dict[str, Any]

SPEC = QueueableKindSpec(
    resource=KindResource(group=GROUP, version=VERSION, kind="TrainJob", plural="trainjobs"),
    suspend=Suspension(field="spec.suspend", additions="BeforeStart", restoration="AfterStop"),
    pod_sets=[
        # The hook puts those of the runtime in its place.
        PodSetRule(
            name=_NODE,
            topology=PodIndexes(
                pod_index_label=JOB_INDEX,
                sub_group_index_label="jobset.sigs.k8s.io/job-index",
                sub_group_count="1",
            ),
        )
    ],
    active=StateRule(expression=f"{_STATUSES}.exists(s, s.?active.orValue(0) > 0)"),
    ready=StateRule(
        expression=f"{_STATUSES}.map(s, s.?ready.orValue(0) + s.?succeeded.orValue(0)).sum()"
        " == size(podSets)"
    ),
    finished=[
        EndRule(condition="Complete", outcome="Succeeded"),
        EndRule(condition="Failed", outcome="Failed"),
    ],
    managed_by=ManagedByRule(
        field="spec.managedBy", controller="trainer.kubeflow.org/trainjob-controller"
    ),
)


def runtime(job: Seen) -> Related:
    """Return the runtime that a TrainJob refers to."""
    found = job.value("spec.runtimeRef")
    reference: Values = found if isinstance(found, dict) else {}
    kind, group = reference.get("kind", CLUSTER_RUNTIME), reference.get("apiGroup", GROUP)
    if group != GROUP or kind not in {CLUSTER_RUNTIME, TRAINING_RUNTIME}:
        raise _refusal(f"unsupported runtime: {group}/{kind}")
    namespace = job.metadata.namespace if kind == TRAINING_RUNTIME else ""
    return Related(
        api_version=API_VERSION, kind=kind, name=str(reference.get("name")), namespace=namespace
    )


def pod_sets(job: Seen, found: Sequence[PodSet]) -> Iterator[PodSet]:
    """Yield a pod set for each replicated job of the runtime, with what the TrainJob changes."""
    named, described = runtime(job), job.related
    if described is None:
        raise MissingError(_POD_SETS, f"runtime '{named.name}' not found", _REFERENCE)
    if value_at(described, ("spec", "mlPolicy", "mpi")) is not ABSENT:
        raise _refusal(f"runtime '{named.name}' is one of MPI, whose pods are not known here")
    for one in value_at(described, ("spec", *_JOBS)) or ():
        template: Values = msgspec.json.decode(msgspec.json.encode(value_at(one, _POD) or {}))
        is_trainer = value_at(one, ("template", "metadata", "labels", _STEP)) == _TRAINER
        if is_trainer:
            _train(job, template)
        for patch in _patches_of(job, str(one["name"])):
            _merge(template, patch)
        yield replace(
            found[0],
            name=str(one["name"]).lower(),
            count=_nodes(job, described) if is_trainer else 1,
            template=msgspec.Raw(msgspec.json.encode(template)),
        )


def reclaimable(job: Seen) -> Mapping[str, int]:
    """Return the pods of replicated jobs that have succeeded: there is one Job of each."""
    found = job.value("status.jobsStatus") or ()
    done = {str(one.get("name")).lower() for one in found if one.get("succeeded") == 1}
    return {one.name: one.count for one in job.pod_sets if one.name in done}


def _nodes(job: Seen, described: Any) -> int:
    """Return the number of nodes: of the TrainJob, else of the runtime's policy, else 1."""
    for found in (
        _trainer(job).get("numNodes"),
        value_at(described, ("spec", "mlPolicy", "numNodes")),
    ):
        if isinstance(found, int):
            return found
    return 1


def _trainer(job: Seen) -> Values:
    found = job.value("spec.trainer")
    return found if isinstance(found, dict) else {}


def _train(job: Seen, template: Values) -> None:
    """Write what the TrainJob says of its trainer into the container that trains."""
    trainer = _trainer(job)
    for container in value_at(template, ("spec", "containers")) or ():
        if container.get("name") != _NODE:
            continue
        container |= {k: trainer[k] for k in ("image", "command", "args") if trainer.get(k)}
        if trainer.get("resourcesPerNode"):
            container["resources"] = trainer["resourcesPerNode"]
        if trainer.get("env"):
            container["env"] = [*container.get("env", ()), *trainer["env"]]


def _patches_of(job: Seen, name: str) -> Iterator[Values]:
    """Yield what patches of others than us change of one replicated job's pods."""
    for patch in job.value("spec.runtimePatches") or ():
        if patch.get("manager") in (MANAGER, OWN_MANAGER):
            continue
        for one in value_at(patch, (_PATCH_SPEC, *_JOBS)) or ():
            if one.get("name") == name and (pod := value_at(one, _POD)):
                yield pod


def _merge(into: Values, more: Values) -> None:
    """Merge as the trainer does: maps by key, lists of named objects by name, others by adding."""
    for key, value in more.items():
        found = into.get(key)
        if isinstance(found, dict) and isinstance(value, dict):
            _merge(found, value)
        elif isinstance(found, list) and isinstance(value, list):
            _merge_lists(found, value)
        else:
            into[key] = value


def _merge_lists(into: list[Any], more: list[Any]) -> None:
    named = {one["name"]: one for one in into if isinstance(one, dict) and "name" in one}
    for one in more:
        if isinstance(one, dict) and one.get("name") in named:
            _merge(named[one["name"]], one)
        else:
            into.append(one)


def start(job: Seen, document: Document, added: Sequence[Injection]) -> None:
    """Write what each pod set gets into our runtime patch, which is made where there is none."""
    put(
        _our_patch(document),
        (_PATCH_SPEC, *_JOBS),
        [_job_patch(one.name, more) for one, more in zip(job.pod_sets, added, strict=True)],
    )


def _our_patch(document: Document) -> Values:
    patches: list[Values] = value_at(document, _PATCHES) or []
    for patch in patches:
        if patch.get("manager") in (MANAGER, OWN_MANAGER):
            return patch
    made: Values = {"manager": OWN_MANAGER}
    put(document, _PATCHES, [*patches, made])
    return made


def _job_patch(name: str, added: Injection) -> Values:
    metadata = {"labels": dict(added.labels), "annotations": dict(added.annotations)}
    spec = {
        "nodeSelector": dict(added.node_selector),
        "tolerations": msgspec.to_builtins(list(added.tolerations)),
        "schedulingGates": [{"name": one} for one in added.scheduling_gates],
    }
    pod = {
        part: {key: value for key, value in fields.items() if value}
        for part, fields in (("metadata", metadata), ("spec", spec))
    }
    return {"name": name, "template": {"spec": {"template": pod}}}


def undo(_job: Seen, document: Document, _originals: Sequence[Original]) -> None:
    """Empty our runtime patch, or take it away if a start made it."""
    found = value_at(document, _PATCHES)
    if not isinstance(found, list):
        return
    kept = [one for one in found if one.get("manager") != OWN_MANAGER]
    for patch in kept:
        if patch.get("manager") == MANAGER:
            patch.pop(_PATCH_SPEC, None)
    if len(kept) < len(found):
        put(document, _PATCHES, kept or ABSENT)


def _refusal(problem: str) -> UnreadableError:
    return UnreadableError(_POD_SETS, problem, _REFERENCE)


HOOKS = Hooks(
    reads=("spec.runtimeRef", "spec.trainer", "spec.runtimePatches"),
    related=runtime,
    related_kinds=tuple(
        RelatedKind(
            resource=KindResource(
                group=GROUP, version=VERSION, kind=kind, plural=f"{kind.lower()}s"
            ),
            namespaced=kind == TRAINING_RUNTIME,
        )
        for kind in (CLUSTER_RUNTIME, TRAINING_RUNTIME)
    ),
    pod_sets=pod_sets,
    reclaimable=reclaimable,
    start=start,
    undo=undo,
)
FRAMEWORKS = (Framework(name="trainer.kubeflow.org/trainjob", spec=SPEC, hooks=HOOKS),)
