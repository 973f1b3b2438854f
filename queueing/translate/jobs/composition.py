"""Composes the Workload of a Job, as it is created, with the priority that its class gives it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any

import msgspec

from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.wire.cluster import PriorityClass
from queueing.translate.wire.meta import Meta, OwnerReference
from queueing.translate.wire.queues import WorkloadPriorityClass
from queueing.translate.wire.workloads import Workload

API_VERSION = "kueue.x-k8s.io/v1beta2"
_COPIED_PREFIXES = ("provreq.kueue.x-k8s.io/",)
_COPIED = (labels.ADMISSION_GATED_BY, labels.ELASTIC, labels.TRACE_PARENT)
_LABEL_VALUE_MAX = 63
_NAME_MAX = 253
_DIGEST_LENGTH = 5
_OF_KIND = ", Kind="


GroupKind = tuple[str, str]
"""Group and kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """The names of a kind of job."""

    api_version: str
    kind: str
    plural: str
    """Name of the resource, as URLs have it."""
    bare: bool = False
    """Whether its objects are told by their names alone: in keys, in messages and in gangs."""
    labels_pods: bool = False
    """Whether its controller labels each pod of an object with the object's uid."""

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def group_kind(self) -> GroupKind:
        """Group and kind, which no two kinds share."""
        return self.group, self.kind

    def key(self, bare: str) -> Key:
        """Return the key of the object `namespace/name`, which no two of any kinds share."""
        return Key(bare if self.bare else f"{bare} {self.kind}.{self.group}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClasses:
    """All classes, by name."""

    workload: Mapping[str, WorkloadPriorityClass] = field(default_factory=dict)
    pod: Mapping[str, PriorityClass] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """A priority and, unless it is the default of 0, the class it is from."""

    value: int
    reference: Mapping[str, str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of a Workload's spec."""
        if self.reference is None:
            return {"priority": self.value}
        return {"priority": self.value, "priorityClassRef": dict(self.reference)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingClass:
    """A class that is named but does not exist."""

    kind: str
    name: str


def priority_of(
    workload_class: str, pod_class: str, classes: PriorityClasses
) -> Priority | MissingClass:
    """Resolve: WorkloadPriorityClass label, pods' PriorityClass, global default, 0."""
    if workload_class:
        queueing = classes.workload.get(workload_class)
        if queueing is None:
            return MissingClass(kind="WorkloadPriorityClass", name=workload_class)
        return Priority(
            value=queueing.value,
            reference=_reference("kueue.x-k8s.io", "WorkloadPriorityClass", workload_class),
        )
    found = classes.pod.get(pod_class) if pod_class else _global_default(classes)
    if found is None:
        if pod_class:
            return MissingClass(kind="PriorityClass", name=pod_class)
        return Priority(value=0)
    name = found.metadata.name
    return Priority(
        value=found.value, reference=_reference("scheduling.k8s.io", "PriorityClass", name)
    )


def _global_default(classes: PriorityClasses) -> PriorityClass | None:
    """Return the default class; of several, the least, as the API server picks."""
    defaults = [one for one in classes.pod.values() if one.global_default]
    return min(defaults, key=lambda one: (one.value, one.metadata.name), default=None)


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "kind": kind, "name": name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The Job that a Workload is made for, and which of its labels are copied."""

    kind: JobKind
    metadata: Meta
    labels_to_copy: Sequence[str] = field(default=())
    generation: str = ""
    """Of an elastic job: by it, its slices have different names. Empty for all others."""
    replaced: Meta | None = None
    """The slice that it is to replace, if any."""
    name: str = field(init=False)
    """Name of the job's Workload."""

    def __post_init__(self) -> None:
        """Name the Workload, which takes a digest, once."""
        name = workload_name(self.kind.kind, self.kind.group, self.metadata, self.generation)
        object.__setattr__(self, "name", name)


def workload_name(kind: str, group: str, owner: Meta, extra: str = "") -> str:
    """Return `<kind>-<name>-<5 hex digits>`, cut so that the digits fit; stable per job life.

    `extra` tells several Workloads of one job apart.
    """
    text = f"{kind}\n{group}\n{owner.name}\n{owner.uid}" + (f"\n{extra}" if extra else "")
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()[:_DIGEST_LENGTH]
    prefix = f"{kind.lower()}-{owner.name}"[: _NAME_MAX - _DIGEST_LENGTH - 1]
    return f"{prefix}-{digest}"


def owner_reference(api_version: str, kind: str, owner: Meta) -> dict[str, Any]:
    """Return the controller reference that ties a Workload to its job."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def compose(origin: Origin, pod_sets: list[dict[str, Any]], priority: Priority) -> bytes:
    """Return the Workload to create, owned by the Job and with our finalizer.

    The finalizer keeps the Workload, which has the original pod template, until that is restored.
    """
    return msgspec.json.encode(composed(origin, pod_sets, priority))


def composed(origin: Origin, pod_sets: list[dict[str, Any]], priority: Priority) -> dict[str, Any]:
    """Return the same as plain values."""
    job = origin.metadata
    spec: dict[str, Any] = {"podSets": pod_sets, "active": True, **priority.fields()}
    queue = job.labels.get(labels.QUEUE_NAME, "")
    if queue:
        spec["queueName"] = queue
    limit = max_execution_time(job)
    if limit is not None:
        spec["maximumExecutionTimeSeconds"] = limit
    return as_workload(origin, spec)


def as_workload(origin: Origin, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Workload of a job that has this spec, as plain values."""
    job = origin.metadata
    return {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "metadata": {
            "name": origin.name,
            "namespace": job.namespace,
            "labels": _labels(origin),
            "annotations": _annotations(origin),
            "finalizers": [labels.RESOURCE_IN_USE],
            "ownerReferences": [owner_reference(origin.kind.api_version, origin.kind.kind, job)],
        },
        "spec": spec,
    }


def max_execution_time(job: Meta) -> int | None:
    """Return the seconds of the Job's time-limit label; None if missing or not positive."""
    text = job.labels.get(labels.MAX_EXECUTION_TIME, "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def gates_of(meta: Meta) -> str:
    """Return the value of the annotation of admission gates; empty without one."""
    return meta.annotations.get(labels.ADMISSION_GATED_BY, "")


def follows(job: Meta, workload: Workload) -> bool:
    """Say whether queue, priority class, time limit and gates of a Workload equal the Job's."""
    spec = workload.spec
    reference = spec.priority_class_ref
    queueing_class = (
        reference.name if reference and reference.kind == "WorkloadPriorityClass" else ""
    )
    return (
        spec.queue_name == job.labels.get(labels.QUEUE_NAME, "")
        and queueing_class == job.labels.get(labels.PRIORITY_CLASS, "")
        and spec.maximum_execution_time_seconds == max_execution_time(job)
        and gates_of(workload.metadata) == gates_of(job)
    )


def named_owner(kind: JobKind, job: Meta) -> dict[str, str]:
    """Return the annotations of a Workload that name its Job also when it owns it no longer."""
    return {
        labels.JOB_OWNER_GVK: f"{kind.api_version}{_OF_KIND}{kind.kind}",
        labels.JOB_OWNER_NAME: job.name,
    }


def job_of(workload: Workload) -> OwnerReference | None:
    """Return the job that a Workload was created for, or that adopted it; None for a gang's.

    A Workload names its job in annotations too, which outlive its reference.
    """
    meta = workload.metadata
    uid = meta.labels.get(labels.JOB_UID, "")
    for owner in meta.owner_references:
        if owner.controller and owner.uid == uid:
            return owner
    api_version, _, kind = meta.annotations.get(labels.JOB_OWNER_GVK, "").partition(_OF_KIND)
    if not (uid and kind):
        return None
    name = meta.annotations.get(labels.JOB_OWNER_NAME, "")
    return OwnerReference(api_version=api_version, kind=kind, name=name, uid=uid)


def prebuilt_name(job: Meta) -> str:
    """Return the name of the prebuilt Workload that a Job's label names; empty without one."""
    name = labels.PREBUILT_WORKLOAD
    return job.labels.get(name, "") or job.annotations.get(name, "")


def _labels(origin: Origin) -> dict[str, str]:
    job = origin.metadata
    copied = {name: job.labels[name] for name in origin.labels_to_copy if name in job.labels}
    own = {labels.JOB_UID: job.uid} if len(job.uid) <= _LABEL_VALUE_MAX else {}
    return {**copied, **own}


def _annotations(origin: Origin) -> dict[str, str]:
    found: Mapping[str, str] = origin.metadata.annotations
    copied = {
        key: value
        for key, value in found.items()
        if key.startswith(_COPIED_PREFIXES) or key in _COPIED
    }
    named = named_owner(origin.kind, origin.metadata)
    return {**copied, **_of_slice(origin), **named} if origin.generation else {**copied, **named}


def _of_slice(origin: Origin) -> dict[str, str]:
    before = origin.replaced
    if before is None:
        return {labels.SLICE_NAME: origin.name}
    first = before.annotations.get(labels.SLICE_NAME, before.name)
    return {labels.SLICE_NAME: first, labels.SLICE_REPLACES: f"{before.namespace}/{before.name}"}
