"""The kind `batch/v1 Job`: a Workload with one pod set; suspended until that is admitted."""

from typing import Any

import msgspec

from queueing.devices.wire.swaps import same_but_swapped, swapped, unswapped
from queueing.translate import labels
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.environment import each_name_once
from queueing.translate.jobs.indexes import count_of_union
from queueing.translate.jobs.injection import Injection, inject, restore
from queueing.translate.jobs.view import End, JobView
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import PodSet, Workload

KIND = JobKind(api_version="batch/v1", kind="Job")
MAIN = "main"

_job = msgspec.json.Decoder(Job)
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_mapping = msgspec.json.Decoder(dict[str, Any])


def view(job: Job) -> JobView:
    """Return a Job as it is seen above this module."""
    status = job.status
    return JobView(
        kind=KIND,
        metadata=job.metadata,
        suspended=job.spec.suspend,
        stopping=job.metadata.annotations.get(labels.STOPPING) == "true",
        pods=_pod_count(job),
        least_pods=_min_count(job.metadata),
        running_pods=status.active,
        active=status.active > 0 or status.terminating > 0,
        ready=_are_pods_ready(job),
        reclaimable=_reclaimable(job),
        end=_end(job),
        encoded_template=job.spec.template,
        source=job,
    )


def read(body: bytes) -> JobView:
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
    parts = _parts.decode(job.encoded_template)
    if "metadata" in parts:
        metadata = _mapping.decode(parts["metadata"])
        metadata.pop("creationTimestamp", None)
        parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    if "spec" in parts:
        parts["spec"] = each_name_once(parts["spec"])
    found: dict[str, Any] = {"name": MAIN, "count": job.pods, "template": parts}
    floor = job.least_pods
    return [found | {"minCount": floor}] if floor is not None else [found]


def start(job: JobView, added: Injection) -> dict[str, Any]:
    """Return the `spec` of the patch that unsuspends the Job with what its admission adds.

    Raises ConflictError when the pod template contradicts it.
    """
    spec: dict[str, Any] = {"suspend": False}
    template = inject(job.template, added)
    swaps = swapped(job.encoded_template, added.swaps)
    if swaps:
        template["spec"] = {**template.get("spec", {}), **swaps}
    if template:
        spec["template"] = template
    if job.least_pods is not None:
        spec |= _parallelism(job, added.count)
    return spec


def undo(job: JobView, workload: Workload) -> dict[str, Any]:
    """Return the `spec` of the patch that restores a stopped Job's template; empty if it is equal.

    `workload` has the Job's pod set alone, with the original template.
    """
    original = workload.spec.pod_sets[0]
    now = job.template
    template = restore(now, original.template)
    swaps = unswapped(job.encoded_template, now, original.template)
    if swaps:
        template["spec"] = {**template.get("spec", {}), **swaps}
    spec: dict[str, Any] = {"template": template} if template else {}
    if job.least_pods is not None:
        spec |= _parallelism(job, original.count)
    return spec


def was_started(job: JobView) -> bool:
    """Say whether the pod template still has the annotation that a start adds."""
    return labels.POD_WORKLOAD in job.template.metadata.annotations


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


def _are_pods_ready(job: Job) -> bool:
    """Say whether all pods run and are ready, or have succeeded.

    A pod that succeeded is for a moment neither ready nor counted: without that moment's list a
    Job would seem to lose its pods when they end well.
    """
    waiting = job.status.uncounted_terminated_pods
    uncounted = len(waiting.succeeded) if waiting is not None else 0
    return job.status.ready + job.status.succeeded + uncounted >= _pod_count(job)


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


def equivalent(job: JobView, workload: Workload) -> bool:
    """Say whether a Workload's pod set still equals the Job.

    The number of pods and the containers must always be equal; what an admission itself changes
    (tolerations, node selector) only while the Workload holds no quota. A Job that runs with fewer
    pods by partial admission is equal.
    """
    if len(workload.spec.pod_sets) != 1:
        return False
    want = workload.spec.pod_sets[0]
    admission = workload.status.admission
    counts = {want.count}
    if admission is not None and want.min_count is not None:
        counts |= {one.count for one in admission.pod_set_assignments if one.count is not None}
    if job.pods not in counts or job.least_pods != want.min_count:
        return False
    return _same_template(job.template, want, reserved=admission is not None)


def _same_template(template: PodTemplate, want: PodSet, *, reserved: bool) -> bool:
    mine, other = template.spec, want.template.spec
    if (mine.resources, mine.priority_class_name) != (other.resources, other.priority_class_name):
        return False
    containers = (mine.containers, mine.init_containers)
    if containers != (other.containers, other.init_containers) and not (
        reserved
        and same_but_swapped(mine.containers, other.containers)
        and same_but_swapped(mine.init_containers, other.init_containers)
    ):
        return False
    if reserved:
        return True
    return (mine.tolerations, mine.node_selector, mine.affinity) == (
        other.tolerations,
        other.node_selector,
        other.affinity,
    )
