"""batch/v1 Job: one pod set, which may be admitted with fewer pods than it wants."""

from collections.abc import Mapping
from typing import Any

from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Counts, Hooks, Seen
from queueing.kinds.paths import ABSENT
from queueing.kinds.pod_sets import COUNT_MAX
from queueing.translate import labels
from queueing.translate.jobs.indexes import count_of_union
from queueing.translate.jobs.pod_sets import JOB_INDEX
from queueing_api.queueing.v1alpha1.queueable_kind import (
    CountField,
    EndRule,
    KindResource,
    ManagedByRule,
    PodIndexes,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

MAIN = "main"
_PARALLELISM = "object.spec.?parallelism.orValue(1)"
_COMPLETIONS = f"object.spec.?completions.orValue({COUNT_MAX})"
_MIN = f'object.metadata.?annotations[?"{labels.MIN_PARALLELISM}"].orValue("")'
_FOLLOWS = f'object.metadata.?annotations[?"{labels.COMPLETIONS_EQUAL_PARALLELISM}"].orValue("")'

SPEC = QueueableKindSpec(
    resource=KindResource(group="batch", version="v1", kind="Job", plural="jobs"),
    suspend=Suspension(
        field="spec.suspend",
        # A Job without a start time is the only one that takes another template.
        restoration="AfterStop",
        reset=["status.startTime"],
    ),
    pod_sets=[
        PodSetRule(
            name=MAIN,
            count=f"{_COMPLETIONS} < {_PARALLELISM} ? {_COMPLETIONS} : {_PARALLELISM}",
            min_count=f'{_MIN} != "" && {_MIN}.matches("^[0-9]{{1,9}}$") ? int({_MIN}) : 0',
            template="spec.template",
            controller_labels=["job-name", "controller-uid", labels.POD_JOB_UID],
            count_fields=[
                CountField(path="spec.parallelism"),
                CountField(path="spec.completions", when=f'{_FOLLOWS} == "true"'),
            ],
            topology=PodIndexes(pod_index_label=JOB_INDEX),
        )
    ],
    active=StateRule(
        expression="object.?status.active.orValue(0) + object.?status.terminating.orValue(0) > 0"
    ),
    ready=StateRule(
        # Pods that succeeded are for a moment neither ready nor counted.
        expression="object.?status.succeeded.orValue(0) + object.?status.ready.orValue(0)"
        " + size(object.?status.uncountedTerminatedPods.succeeded.orValue([])) >= podSets[0].count"
    ),
    finished=[
        EndRule(condition="Complete", outcome="Succeeded"),
        EndRule(condition="Failed", outcome="Failed"),
    ],
    managed_by=ManagedByRule(field="spec.managedBy", controller="kubernetes.io/job-controller"),
)


def reclaimable(job: Seen) -> Mapping[str, int]:
    """Return the pods that a Job needs no more: those it asks for, less what is left to do."""
    parallelism = _number(job, "spec.parallelism", 1)
    if parallelism <= 1:
        return {}
    completions = _number(job, "spec.completions", parallelism)
    if job.value("spec.completionMode") == "Indexed":
        done = count_of_union(
            _text(job, "status.completedIndexes"),
            _text(job, "status.failedIndexes"),
            below=completions,
        )
    else:
        done = _number(job, "status.succeeded", 0)
    if done <= 0:
        return {}
    return {MAIN: max(min(parallelism, completions) - max(completions - done, 0), 0)}


def running(job: Seen) -> int:
    """Return how many pods run."""
    return _number(job, "status.active", 0)


def ready(job: Seen) -> int:
    """Count the pods that run and are ready, or have succeeded.

    A pod that succeeded is for a moment neither ready nor counted: without that moment's list a
    Job would seem to lose its pods when they end well.
    """
    uncounted = job.value("status.uncountedTerminatedPods.succeeded") or ()
    return _number(job, "status.ready", 0) + _number(job, "status.succeeded", 0) + len(uncounted)


def _number(job: Seen, path: str, absent: int) -> int:
    found: Any = job.value(path)
    return absent if found is ABSENT else int(found)


def _text(job: Seen, path: str) -> str:
    found: Any = job.value(path)
    return "" if found is ABSENT else str(found)


HOOKS = Hooks(
    reads=(
        "spec.parallelism",
        "spec.completions",
        "spec.completionMode",
        "status.succeeded",
        "status.failed",
        "status.completedIndexes",
        "status.failedIndexes",
    ),
    reclaimable=reclaimable,
    counts=Counts(running=running, ready=ready),
    bare=True,
)
FRAMEWORKS = (Framework(name="batch/job", spec=SPEC, hooks=HOOKS, elastic=True, always=True),)
