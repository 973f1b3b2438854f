"""batch/v1 Jobs: what is filled in at creation, and what a managed Job may say and change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from queueing.webhooks.findings import Finding, Wire, dig, entries, forbidden, immutable, invalid
from queueing.webhooks.numbers import WHOLE_NUMBER
from queueing.webhooks.topology import check_template
from queueing.webhooks.workloads import ELASTIC, check_gates

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
MAX_EXECUTION = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
COMPLETIONS_EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"
DEFAULT = "default"
OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NO_OBJECT_NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character"
)

MANAGED_OWNERS = (
    ("batch/v1", "Job"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    ("kueue.x-k8s.io/v1beta2", "Workload"),
    ("queueing.dev/v1alpha1", "Checkpoint"),
)
"""Owners that queue for their children themselves; a CronJob, say, does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What defaulting needs to know beside the Job itself."""

    namespace_managed: bool = True
    """Whether the namespace selector of the Configuration matches."""
    manage_without_queue: bool = False
    default_local_queue: bool = False
    """Whether a LocalQueue named `default` exists in the Job's namespace."""
    default_priority_class: bool = False
    """Whether a WorkloadPriorityClass named `default` exists."""
    owner_managed: bool = False
    """Whether a managed ancestor already queues for this Job."""


def has_managed_owner(job: object) -> bool:
    """Say whether the object's controller queues for it."""
    return any(
        owner.get("controller") and (owner.get("apiVersion"), owner.get("kind")) in MANAGED_OWNERS
        for owner in entries(job, "metadata", "ownerReferences")
    )


def default_job(job: Wire, around: Surroundings) -> Wire:
    """Return the Job as it is created: queued by default where that is set up, and suspended.

    The order is the API's: LocalQueue, priority class, suspension. A Job that an ancestor queues
    for is left alone.
    """
    labels = dict(dig(job, "metadata", "labels") or {})
    if not around.namespace_managed:
        return job
    if around.default_local_queue and not around.owner_managed:
        labels.setdefault(QUEUE, DEFAULT)
    managed = bool(labels.get(QUEUE)) or (around.manage_without_queue and not around.owner_managed)
    if not managed:
        return job
    if around.default_priority_class and QUEUE in labels:
        labels.setdefault(PRIORITY_CLASS, DEFAULT)
    metadata = {**(job.get("metadata") or {}), **({"labels": labels} if labels else {})}
    return {**job, "metadata": metadata, "spec": {**(job.get("spec") or {}), "suspend": True}}


def check_job(job: Wire, old: Wire | None = None, *, default_queue: bool = False) -> list[Finding]:
    """Return all that is wrong with a managed Job, new or changed from `old`."""
    found = [
        *_queue_name(job, old),
        *_labels(job),
        *_partial(job, old),
        *check_gates(job, old),
        *check_template(job, _parallelism(job), elastic=_annotation(job, ELASTIC) == "true"),
    ]
    if old is not None:
        found += [*_changes(job, old), *_queue_change(job, old, default_queue=default_queue)]
    return found


def _label(job: Wire | None, name: str) -> str | None:
    value = dig(job, "metadata", "labels", name)
    return None if value is None else str(value)


def _annotation(job: Wire | None, name: str) -> str | None:
    value = dig(job, "metadata", "annotations", name)
    return None if value is None else str(value)


def _suspended(job: Wire) -> bool:
    return bool(dig(job, "spec", "suspend"))


def _parallelism(job: Wire) -> int:
    return int(dig(job, "spec", "parallelism") or 1)


def _queue_name(job: Wire, old: Wire | None) -> Iterator[Finding]:
    """Refuse a name that no LocalQueue can have, unless it stands there already."""
    name = _label(job, QUEUE)
    if name and name != _label(old, QUEUE) and not OBJECT_NAME.fullmatch(name):
        yield invalid(f"metadata.labels[{QUEUE}]", name, NO_OBJECT_NAME)


def _labels(job: Wire) -> Iterator[Finding]:
    text = _label(job, MAX_EXECUTION)
    path = f"metadata.labels[{MAX_EXECUTION}]"
    if text is not None:
        if not WHOLE_NUMBER.fullmatch(text):
            yield invalid(path, text, "must be a whole number of seconds")
        elif int(text) <= 0:
            yield invalid(path, int(text), "should be greater than 0")


def _is_admitted_count(job: Wire, old: Wire | None) -> bool:
    """Say whether nobody counts anew: the parallelism may be what an admission made of it."""
    return (
        old is not None
        and _parallelism(job) == _parallelism(old)
        and _annotation(job, MIN_PARALLELISM) == _annotation(old, MIN_PARALLELISM)
    )


def _partial(job: Wire, old: Wire | None) -> Iterator[Finding]:
    parallelism = _parallelism(job)
    least = _annotation(job, MIN_PARALLELISM)
    path = f"metadata.annotations[{MIN_PARALLELISM}]"
    if least is not None:
        if not WHOLE_NUMBER.fullmatch(least):
            yield invalid(path, least, "must be a whole number")
        elif not (0 < int(least) < parallelism or _is_admitted_count(job, old)):
            yield invalid(path, least, f"should be between 0 and {parallelism - 1}")
    equal = _annotation(job, COMPLETIONS_EQUAL)
    path = f"metadata.annotations[{COMPLETIONS_EQUAL}]"
    if equal is None:
        return
    if equal not in {"true", "false"}:
        yield invalid(path, equal, "must be a boolean value")
    elif equal == "true":
        if dig(job, "spec", "completionMode") != "Indexed":
            yield invalid(path, equal, "should not be enabled for NonIndexed jobs")
        completions = dig(job, "spec", "completions")
        if completions != parallelism:
            told = "should be equal to parallelism when"
            yield invalid("spec.completions", completions, f"{told} {COMPLETIONS_EQUAL} is true")


def _changes(job: Wire, old: Wire) -> Iterator[Finding]:
    running = not _suspended(job) and not _suspended(old)
    prebuilt = f"metadata.labels[{PREBUILT}]"
    if _label(job, PREBUILT) != _label(old, PREBUILT) and not _suspended(job):
        yield immutable(prebuilt, _label(job, PREBUILT))
    now, before = _label(job, MAX_EXECUTION), _label(old, MAX_EXECUTION)
    if now != before and not _suspended(job):
        yield immutable(f"metadata.labels[{MAX_EXECUTION}]", now)
    yield from _class_change(job, old)
    if running and _annotation(job, MIN_PARALLELISM) is not None:
        now_pods, then_pods = dig(job, "spec", "parallelism"), dig(old, "spec", "parallelism")
        if now_pods != then_pods:
            told = "cannot change when partial admission is enabled and the job is not suspended"
            yield forbidden("spec.parallelism", told)


def _class_change(job: Wire, old: Wire) -> Iterator[Finding]:
    path = f"metadata.labels[{PRIORITY_CLASS}]"
    now, before = _label(job, PRIORITY_CLASS), _label(old, PRIORITY_CLASS)
    if now and not before and not _suspended(job):
        told = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield forbidden(path, told)
    elif before and not now:
        yield forbidden(path, "WorkloadPriorityClass cannot be removed from a workload")


def _queue_change(job: Wire, old: Wire, *, default_queue: bool) -> Iterator[Finding]:
    path = f"metadata.labels[{QUEUE}]"
    now, before = _label(job, QUEUE), _label(old, QUEUE)
    if now == before:
        return
    if not _suspended(job):
        yield immutable(path, now)
    elif before and not now and default_queue:
        told = "queue-name must not be empty in namespace with default queue"
        yield invalid(path, "", told)
