"""Jobs of any kind: what is filled in at creation, and the names of what rules speak of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from queueing.kinds.managed import OWN_CONTROLLERS
from queueing.translate.jobs.composition import GroupKind
from queueing.webhooks.findings import Wire, dig
from queueing.webhooks.suspension import JOB, SUSPEND, QueuedKind

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
MAX_EXECUTION = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
COMPLETIONS_EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"
DEFAULT = "default"
NO_OBJECT_NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character"
)

MANAGED_OWNERS: tuple[GroupKind, ...] = (
    ("batch", "Job"),
    ("jobset.x-k8s.io", "JobSet"),
    *OWN_CONTROLLERS,
)
"""Owners that queue for their children themselves, beside kinds that are on; a CronJob, say, does
not."""

_GROUP = "(o.apiVersion.contains('/') ? o.apiVersion.split('/')[0] : '')"


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultingContext:
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


def owners(kinds: Iterable[QueuedKind]) -> list[GroupKind]:
    """Return the kinds of who queues for its children where some kinds are on."""
    named = ((one.group, one.kind) for one in kinds)
    return list(dict.fromkeys((*MANAGED_OWNERS, *named)))


def without_owner(known: Iterable[GroupKind]) -> str:
    """Say in CEL that no controller of an object is of these kinds, in whatever version."""
    return (
        "!has(object.metadata.ownerReferences)"
        " || !object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller"
        f" && [{_GROUP}, string(o.kind)] in {[list(one) for one in known]})"
    )


def labelled_itself(labelled: str, kinds: Iterable[QueuedKind]) -> str:
    """Say in CEL that an object has a queue, and not because its owner has, where kinds are on.

    Controllers such as KubeRay give what they make the labels of its owner, and nobody would ever
    let go of what is suspended below one that is admitted. `labelled` says that it has a queue.
    """
    above = [(one.group, one.kind) for one in kinds if one != JOB]
    return f"({labelled}) && ({without_owner(above)})" if above else labelled


def default_job(job: Wire, around: DefaultingContext, field: str = SUSPEND) -> Wire:
    """Return the Job as it is created: queued by default where that is set up, and suspended.

    `field` is the one that suspends it.
    """
    labelled = default_labels(job, around)
    return job if labelled is None else _with(labelled, field.split("."), value=True)


def default_labels(job: Wire, around: DefaultingContext) -> Wire | None:
    """Return a job with the labels that it gets by default; None for one that is not managed.

    The order is the API's: LocalQueue, priority class. A job that an ancestor queues for is left
    alone.
    """
    labels = dict(dig(job, "metadata", "labels") or {})
    if not around.namespace_managed:
        return None
    if around.default_local_queue and not around.owner_managed:
        labels.setdefault(QUEUE, DEFAULT)
    managed = bool(labels.get(QUEUE)) or (around.manage_without_queue and not around.owner_managed)
    if not managed:
        return None
    if around.default_priority_class and QUEUE in labels:
        labels.setdefault(PRIORITY_CLASS, DEFAULT)
    metadata = {**(job.get("metadata") or {}), **({"labels": labels} if labels else {})}
    return {**job, "metadata": metadata}


def _with(thing: Wire, path: Sequence[str], *, value: object) -> Wire:
    """Return an object with a value at a path, and the maps on the way."""
    step, *rest = path
    inner = thing.get(step)
    below = inner if isinstance(inner, dict) else {}
    return {**thing, step: _with(below, rest, value=value) if rest else value}
