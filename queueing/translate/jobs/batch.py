"""The kind `batch/v1 Job`: a Workload with one pod set; suspended until that is admitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from typing_extensions import override

from queueing.devices.wire.swaps import swapped, unswapped
from queueing.translate import labels
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.indexes import count_of_union
from queueing.translate.jobs.injection import Injection, inject, restore
from queueing.translate.jobs.patches import MergePatch, Patch
from queueing.translate.jobs.pod_sets import JOB_INDEX, each_name_once, equivalent, topology_request
from queueing.translate.jobs.view import End, JobPodSet, JobView
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

KIND = JobKind(api_version="batch/v1", kind="Job", plural="jobs")
MAIN = "main"

_job = msgspec.json.Decoder(Job)
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_mapping = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob(JobView):
    """A batch/v1 Job; `source` is the Job itself."""

    source: Job

    @property
    @override
    def priority_class(self) -> str:
        return self.pod_sets[0].template.spec.priority_class_name

    @override
    def wire_pod_sets(self) -> list[dict[str, Any]]:
        return pod_sets(self)

    @override
    def fits(self, workload: Workload) -> bool:
        return equivalent(self, workload)

    @override
    def start(self, added: Sequence[Injection]) -> Sequence[Patch]:
        return (MergePatch(body={"spec": start(self, added[0])}),)

    @override
    def suspension(self, *, mark: bool) -> Patch | None:
        marked = {"metadata": {"annotations": {labels.STOPPING: "true"}}} if mark else {}
        return MergePatch(body={"spec": {"suspend": True}, **marked})

    @override
    def reset(self) -> Patch | None:
        # The API server allows another template only for a Job without a start time
        # (https://kep.k8s.io/2926).
        begun = self.source.status.start_time is not None
        return MergePatch(body={"status": {"startTime": None}}) if begun else None

    @property
    @override
    def was_started(self) -> bool:
        return labels.POD_WORKLOAD in self.pod_sets[0].template.metadata.annotations

    @property
    @override
    def marks_its_start(self) -> bool:
        return False

    @override
    def differs(self, workload: Workload) -> bool:
        return bool(undo(self, workload))

    def only_waits_as(self, before: JobView | None) -> bool:
        """Say whether it waits for its first start as it did before.

        What its controller says of its suspension until then concerns nobody.
        """
        if before is None or not self.suspended or self.source.status.start_time is not None:
            return False
        version = self.metadata.resource_version
        known = msgspec.structs.replace(before.metadata, resource_version=version)
        return (
            self.source.spec == before.source.spec
            and self.metadata == known
            and (self.active, self.end) == (before.active, before.end)
            and before.source.status.start_time is None
            and not self.was_started
        )

    @override
    def undo(self, workload: Workload, stored: bytes) -> Patch | None:
        restored: dict[str, Any] = {"spec": undo(self, workload)}
        if labels.STOPPING in self.metadata.annotations:
            restored["metadata"] = {"annotations": {labels.STOPPING: None}}
        return MergePatch(body=restored)


def view(job: Job) -> BatchJob:
    """Return a Job as it is seen above this module, without a hold on the message it came in."""
    spec = msgspec.structs.replace(job.spec, template=job.spec.template.copy())
    job = msgspec.structs.replace(job, spec=spec)
    status, count = job.status, _pod_count(job)
    pod_set = JobPodSet(
        name=MAIN,
        count=count,
        least=_min_count(job.metadata),
        encoded_template=spec.template,
        reclaimable=_reclaimable(job),
    )
    ready = _ready_pods(job)
    return BatchJob(
        kind=KIND,
        metadata=job.metadata,
        key=job.metadata.key,
        suspended=job.spec.suspend,
        stopping=job.metadata.annotations.get(labels.STOPPING) == "true",
        pod_sets=(pod_set,),
        running_pods=status.active,
        active=status.active > 0 or status.terminating > 0,
        ready=ready >= count,
        end=_end(job),
        source=job,
        ready_pods=ready,
    )


def read(body: bytes) -> BatchJob:
    """Decode a Job that the API server returned."""
    return view(_job.decode(body))


def _pod_count(job: Job) -> int:
    """Return how many pods run at once: `parallelism`, or `completions` if that is less."""
    completions = job.spec.completions
    return job.spec.parallelism if completions is None else min(job.spec.parallelism, completions)


def _min_count(job: Meta) -> int | None:
    """Return the fewest pods with which the Job may be admitted (annotation); None for all."""
    text = job.annotations.get(labels.MIN_PARALLELISM, "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def pod_sets(job: JobView) -> list[dict[str, Any]]:
    """Return the pod sets of the Job's Workload, with its pod template as it is now."""
    (pod_set,) = job.pod_sets
    parts = _parts.decode(pod_set.encoded_template)
    if "metadata" in parts:
        metadata = _mapping.decode(parts["metadata"])
        metadata.pop("creationTimestamp", None)
        parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    if "spec" in parts:
        parts["spec"] = each_name_once(parts["spec"])
    found: dict[str, Any] = {"name": MAIN, "count": pod_set.count, "template": parts}
    found |= topology_request(pod_set.template.metadata.annotations, {"podIndexLabel": JOB_INDEX})
    return [found | {"minCount": pod_set.least}] if pod_set.least is not None else [found]


def start(job: JobView, added: Injection) -> dict[str, Any]:
    """Return the `spec` of the patch that unsuspends the Job with what its admission adds.

    Raises ConflictError when the pod template contradicts it.
    """
    spec: dict[str, Any] = {"suspend": False}
    (pod_set,) = job.pod_sets
    template = inject(pod_set.template, added)
    if added.swaps and (swaps := swapped(pod_set.encoded_template, added.swaps)):
        template["spec"] = {**template.get("spec", {}), **swaps}
    if template:
        spec["template"] = template
    if pod_set.least is not None:
        spec |= _parallelism(job, added.count)
    return spec


def undo(job: JobView, workload: Workload) -> dict[str, Any]:
    """Return the `spec` of the patch that restores a stopped Job's template; empty if it is equal.

    `workload` has the Job's pod set alone, with the original template.
    """
    original, (pod_set,) = workload.spec.pod_sets[0], job.pod_sets
    now = pod_set.template
    template = restore(now, original.template)
    swaps = unswapped(pod_set.encoded_template, now, original.template)
    if swaps:
        template["spec"] = {**template.get("spec", {}), **swaps}
    spec: dict[str, Any] = {"template": template} if template else {}
    if pod_set.least is not None:
        spec |= _parallelism(job, original.count)
    return spec


def _parallelism(job: JobView, count: int) -> dict[str, Any]:
    """Set the count of a Job that may run with fewer pods; its completions may have to follow."""
    if count == job.source.spec.parallelism:
        return {}
    synced = job.metadata.annotations.get(labels.COMPLETIONS_EQUAL_PARALLELISM) == "true"
    return {"parallelism": count} | ({"completions": count} if synced else {})


def _end(job: Job) -> End | None:
    """Return how the Job has ended, by its conditions."""
    for condition in job.status.conditions:
        if condition.status == "True" and condition.type in ("Complete", "Failed"):
            succeeded = condition.type == "Complete"
            default = "Job finished successfully" if succeeded else "Job failed"
            return End(succeeded, condition.message or default)
    return None


def _ready_pods(job: Job) -> int:
    """Count the pods that run and are ready, or have succeeded.

    A pod that succeeded is for a moment neither ready nor counted: without that moment's list a
    Job would seem to lose its pods when they end well.
    """
    waiting = job.status.uncounted_terminated_pods
    uncounted = len(waiting.succeeded) if waiting is not None else 0
    return job.status.ready + job.status.succeeded + uncounted


def _reclaimable(job: Job) -> int:
    """Return how many pods will never be needed again: `parallelism - what is left to do`."""
    if job.spec.parallelism <= 1:
        return 0
    completions = job.spec.completions
    if completions is None:
        completions = job.spec.parallelism
    done = job.status.succeeded
    if job.spec.completion_mode == "Indexed":
        done = count_of_union(job.status.completed_indexes, job.status.failed_indexes)
    if done <= 0:
        return 0
    return max(job.spec.parallelism - max(completions - done, 0), 0)
