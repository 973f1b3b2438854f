"""Which jobs are queued at all, and which are a part of another one that is."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from queueing.translate import labels
from queueing.translate.wire.meta import Meta, OwnerReference

DEPTH_MAX = 10
TOO_DEEP = (
    "Terminated search for the managed Job that it belongs to,"
    f" because the search depth exceeded limit of {DEPTH_MAX}"
)


class Owned(Protocol):
    """An object that another one may control."""

    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=Owned)


class TooDeepError(ValueError):
    """Jobs own Jobs for more steps than are looked at: nobody can say whose part this one is."""


def asks_to_be_queued(job: Meta, *, without_queue_name: bool) -> bool:
    """Say whether a job wants to be queued; whether its namespace is managed is another question.

    Without a queue's name it does if all are queued and nobody controls it, who would be.
    """
    if job.labels.get(labels.QUEUE_NAME):
        return True
    # A CronJob is nobody's ancestor: its Jobs queue by themselves.
    owned = any(one.controller and one.kind != "CronJob" for one in job.owner_references)
    return without_queue_name and not owned


def controller_of(job: Meta) -> OwnerReference | None:
    """Return who controls a job, be it managed or not."""
    return next((one for one in job.owner_references if one.controller), None)


def ancestor_of(
    job: T, owner: Callable[[T], T | None], is_managed: Callable[[T], bool]
) -> T | None:
    """Return the topmost managed job above this one. Raises TooDeepError beyond ten steps up."""
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
