"""What a Job needs next, decided from the Job and its pods alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from queueing.apiserver.tree import Object, copied, dig, metadata, name_of, namespace_of, uid_of

_FINISHED = ("Complete", "Failed")
_INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class PodCounts:
    """A Job's pods by what they are doing."""

    active: tuple[Object, ...]
    terminating: int
    ready: int
    succeeded: tuple[Object, ...]
    failed: tuple[Object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What to do for a Job now: pods to delete and to create, and the status that tells it."""

    delete: tuple[Object, ...] = ()
    create: tuple[Object, ...] = ()
    status: Object = field(default_factory=dict)


def pods_of(pods: list[Object]) -> PodCounts:
    """Sort a Job's pods by what they are doing."""
    living = [pod for pod in pods if _phase(pod) in ("Pending", "Running")]
    active = tuple(pod for pod in living if not metadata(pod).get("deletionTimestamp"))
    return PodCounts(
        active=active,
        terminating=len(living) - len(active),
        ready=sum(1 for pod in active if is_ready(pod)),
        succeeded=tuple(pod for pod in pods if _phase(pod) == "Succeeded"),
        failed=tuple(pod for pod in pods if _phase(pod) == "Failed"),
    )


def _phase(pod: Object) -> str:
    return str(dig(pod, "status", "phase", default="Pending"))


def is_ready(pod: Object) -> bool:
    """Tell whether all containers of a pod are ready."""
    return is_true(pod, "Ready")


def controller_of(obj: Object) -> Object:
    """Return the reference to what controls an object; empty without one."""
    owners = metadata(obj).get("ownerReferences") or ()
    return next((one for one in owners if one.get("controller")), {})


def condition(job: Object, kind: str) -> Object | None:
    """Return the condition of that type, or None."""
    conditions = dig(job, "status", "conditions", default=[]) or []
    return next((c for c in conditions if c.get("type") == kind), None)


def is_true(obj: Object, kind: str) -> bool:
    """Tell whether an object has the condition of that type, with the status True."""
    return (condition(obj, kind) or {}).get("status") == "True"


def is_finished(job: Object) -> bool:
    """Tell whether the Job is complete or failed for good."""
    return any(is_true(job, kind) for kind in _FINISHED)


def plan(job: Object, pods: list[Object], now: str, *, overdue: bool = False) -> JobPlan | None:
    """Return what the Job needs, or None when it is finished or leaving."""
    if is_finished(job) or metadata(job).get("deletionTimestamp"):
        return None
    spec, found = job.get("spec") or {}, pods_of(pods)
    status = _counts(job, spec, found)
    if spec.get("suspend"):
        return _suspended(found, status, now)
    _resume(job, status, now)
    limit = int(spec.get("backoffLimit", 6))
    failing = (condition(job, "FailureTarget") or {}).get("reason")
    if overdue:
        failing = failing or "DeadlineExceeded"
    elif len(found.failed) > limit:
        failing = failing or "BackoffLimitExceeded"
    if failing:
        return _failed(found, status, str(failing), now)
    if _is_complete(spec, found, status):
        return _complete(found, status, now)
    return _running(job, spec, found, status)


def _counts(job: Object, spec: Object, found: PodCounts) -> Object:
    """Return the status with its counters; what is zero is left out, as the API does."""
    kept = ("conditions", "startTime", "completionTime", "completedIndexes")
    before = job.get("status") or {}
    status: Object = {name: copied(before[name]) for name in kept if name in before}
    status |= {
        "ready": found.ready,
        "terminating": found.terminating,
        "uncountedTerminatedPods": {},
    }
    if spec.get("completionMode") == "Indexed":
        completed = members(str(before.get("completedIndexes") or ""))
        completed |= {index for pod in found.succeeded if (index := index_of(pod)) is not None}
        status["completedIndexes"] = ranges(completed)
        succeeded = len(completed)
        if not completed:
            del status["completedIndexes"]
    else:
        succeeded = max(len(found.succeeded), int(before.get("succeeded") or 0))
    counters = {"active": len(found.active), "succeeded": succeeded, "failed": len(found.failed)}
    return status | {name: number for name, number in counters.items() if number}


def set_condition(  # noqa: PLR0913, PLR0917 - the fields of a condition
    status: Object, kind: str, value: str, reason: str, message: str, now: str
) -> None:
    """Write a condition into a status, unless it says the same already."""
    conditions = [c for c in status.get("conditions") or [] if c.get("type") != kind]
    old = next((c for c in status.get("conditions") or [] if c.get("type") == kind), None)
    if old is not None and old.get("status") == value and old.get("reason") == reason:
        return
    made = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastProbeTime": now,
        "lastTransitionTime": now,
    }
    status["conditions"] = [*conditions, made]


def _suspended(found: PodCounts, status: Object, now: str) -> JobPlan:
    set_condition(status, "Suspended", "True", "JobSuspended", "Job suspended", now)
    status.pop("startTime", None)
    status.pop("active", None)
    status["ready"] = 0
    status["terminating"] = found.terminating + len(found.active)
    return JobPlan(delete=found.active, status=status)


def _resume(job: Object, status: Object, now: str) -> None:
    if is_true(job, "Suspended"):
        set_condition(status, "Suspended", "False", "JobResumed", "Job resumed", now)
        status.pop("startTime", None)
    status.setdefault("startTime", now)


def _failed(found: PodCounts, status: Object, reason: str, now: str) -> JobPlan:
    """Say first that the Job will fail; it has failed when its last pod is gone."""
    message = {
        "BackoffLimitExceeded": "Job has reached the specified backoff limit",
        "DeadlineExceeded": "Job was active longer than specified deadline",
    }[reason]
    set_condition(status, "FailureTarget", "True", reason, message, now)
    if not found.active and not found.terminating:
        set_condition(status, "Failed", "True", reason, message, now)
    return JobPlan(delete=found.active, status=status)


def _is_complete(spec: Object, found: PodCounts, status: Object) -> bool:
    completions = spec.get("completions")
    if completions is None:
        return bool(found.succeeded) and not found.active and not found.terminating
    return int(status.get("succeeded", 0)) >= int(completions)


def _complete(found: PodCounts, status: Object, now: str) -> JobPlan:
    message = "Reached expected number of succeeded pods"
    set_condition(status, "SuccessCriteriaMet", "True", "CompletionsReached", message, now)
    if not found.active and not found.terminating:
        set_condition(status, "Complete", "True", "CompletionsReached", message, now)
        status.setdefault("completionTime", now)
    return JobPlan(delete=found.active, status=status)


def _running(job: Object, spec: Object, found: PodCounts, status: Object) -> JobPlan:
    parallelism, completions = int(spec.get("parallelism", 1)), spec.get("completions")
    wanted = parallelism
    if completions is not None:
        wanted = min(parallelism, int(completions) - int(status.get("succeeded", 0)))
    elif found.succeeded:
        wanted = min(parallelism, len(found.active))
    surplus = len(found.active) - wanted
    if surplus > 0:
        newest = sorted(found.active, key=_creation, reverse=True)[:surplus]
        return JobPlan(delete=tuple(newest), status=status)
    if spec.get("completionMode") == "Indexed":
        free = _free_indexes(spec, found, status)
        return JobPlan(
            create=tuple(_pod(job, index) for index in free[: -surplus or 0]), status=status
        )
    return JobPlan(create=tuple(_pod(job, None) for _ in range(-surplus)), status=status)


def _creation(pod: Object) -> tuple[str, str]:
    return str(metadata(pod).get("creationTimestamp")), name_of(pod)


def _free_indexes(spec: Object, found: PodCounts, status: Object) -> list[int]:
    taken = members(str(status.get("completedIndexes") or ""))
    taken |= {index for pod in found.active if (index := index_of(pod)) is not None}
    return [index for index in range(int(spec.get("completions") or 0)) if index not in taken]


def _pod(job: Object, index: int | None) -> Object:
    """Return a pod from the Job's template, owned by the Job."""
    template: Any = copied(dig(job, "spec", "template", default={}))
    meta, name = template.get("metadata") or {}, name_of(job)
    meta["namespace"] = namespace_of(job)
    meta["generateName"] = f"{name}-" if index is None else f"{name}-{index}-"
    meta["ownerReferences"] = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": name,
            "uid": uid_of(job),
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    pod_spec = template.get("spec") or {}
    if index is not None:
        meta["annotations"] = {**(meta.get("annotations") or {}), _INDEX: str(index)}
        meta["labels"] = {**(meta.get("labels") or {}), _INDEX: str(index)}
        pod_spec.setdefault("hostname", f"{name}-{index}")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec}


def index_of(pod: Object) -> int | None:
    """Return the completion index of a pod."""
    text = (metadata(pod).get("annotations") or {}).get(_INDEX, "")
    return int(text) if text.isdigit() else None


def ranges(indexes: Iterable[int]) -> str:
    """Return completion indexes as sorted ranges: `0-3,5`."""
    parts: list[list[int]] = []
    for index in sorted(set(indexes)):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def members(text: str) -> set[int]:
    """Return the indexes in a list of ranges."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found
