"""Which Jobs ask to be queued, and who controls them."""

from queueing.translate import labels
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.wire.meta import Meta, OwnerReference

OWN_CONTROLLERS: tuple[GroupKind, ...] = (
    ("kueue.x-k8s.io", "Workload"),
    ("queueing.dev", "Checkpoint"),
)
"""Kinds of objects whose Jobs serve the queues themselves, and never wait in one."""


def asks_to_be_queued(job: Meta, *, without_queue_name: bool) -> bool:
    """Say whether a Job is to be queued, if its namespace is managed.

    With a queue label it is. Without one it is if `manageJobsWithoutQueueName` is on and it is not
    one of our own. Whoever is queued in the place of what it controls is looked for besides
    (`kinds.owners`).
    """
    return bool(job.labels.get(labels.QUEUE_NAME)) or (without_queue_name and not is_our_own(job))


def is_our_own(job: Meta) -> bool:
    """Say whether a Job is one that we or another queueing controller make."""
    above = controller_of(job)
    return above is not None and group_kind_of(above) in OWN_CONTROLLERS


def group_kind_of(reference: OwnerReference) -> GroupKind:
    """Return the group and kind of an owner."""
    return reference.api_version.rpartition("/")[0], reference.kind


def controller_of(job: Meta) -> OwnerReference | None:
    """Return the controlling owner of a Job, managed or not; None without one."""
    return next((one for one in job.owner_references if one.controller), None)
