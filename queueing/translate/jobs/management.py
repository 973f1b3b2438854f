"""Which Jobs are queued, and which are a part of another Job that is."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from queueing.translate import labels
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.wire.meta import Meta, OwnerReference

DEPTH_MAX = 10
TOO_DEEP = (
    "Terminated search for the managed Job that it belongs to,"
    f" because the search depth exceeded limit of {DEPTH_MAX}"
)


class Owned(Protocol):
    """An object that may have a controlling owner."""

    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=Owned)


class TooDeepError(ValueError):
    """A Job has more than `DEPTH_MAX` controllers above it, so that it is not known what it is."""


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


def ancestor_of(
    job: T, owner: Callable[[T], T | None], is_managed: Callable[[T], bool]
) -> T | None:
    """Return the topmost managed Job among the controllers above this one; None without one.

    Raises TooDeepError when there are more than `DEPTH_MAX`.
    """
    found: T | None = None
    for _ in range(DEPTH_MAX):
        above = owner(job)
        if above is None:
            return found
        job = above
        found = job if is_managed(job) else found
    if owner(job) is not None:
        raise TooDeepError(TOO_DEEP)
    return found
