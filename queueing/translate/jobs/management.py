"""Which Jobs ask to be queued, and who controls them."""

from queueing.translate import labels
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.wire.meta import Meta, OwnerReference


def asks_to_be_queued(job: Meta, *, without_queue_name: bool) -> bool:
    """Say whether a Job is to be queued, if its namespace is managed.

    With a queue label it is. Without one it is if `manageJobsWithoutQueueName` is on and no object
    controls it that would be queued in its place.
    """
    if job.labels.get(labels.QUEUE_NAME):
        return True
    # CronJobs are not queued; their Jobs are.
    owned = any(one.controller and one.kind != "CronJob" for one in job.owner_references)
    return without_queue_name and not owned


def group_kind_of(reference: OwnerReference) -> GroupKind:
    """Return the group and kind of an owner."""
    return reference.api_version.rpartition("/")[0], reference.kind


def controller_of(job: Meta) -> OwnerReference | None:
    """Return the controlling owner of a Job, managed or not; None without one."""
    return next((one for one in job.owner_references if one.controller), None)
