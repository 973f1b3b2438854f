"""Jobs that a managed Job owns: they are part of it, and run only while it is admitted."""

from collections.abc import Callable

from queueing.controller.jobs import ladder
from queueing.controller.stores.objects import Objects
from queueing.translate.wire.jobs import Job

DEPTH_MAX = 10
NOT_ADMITTED = "The Job that it belongs to is not admitted"
TOO_DEEP = (
    "Terminated search for the managed Job that it belongs to,"
    f" because the search depth exceeded limit of {DEPTH_MAX}"
)


class TooDeepError(ValueError):
    """Jobs own Jobs for more steps than are looked at: nobody can say whose part this one is."""


def ancestor_of(objects: Objects, job: Job, is_managed: Callable[[Job], bool]) -> Job | None:
    """Return the topmost managed Job above this one. Raises TooDeepError beyond ten steps up."""
    found: Job | None = None
    for _ in range(DEPTH_MAX):
        above = _owner(objects, job)
        if above is None:
            return found
        job = above
        found = job if is_managed(job) else found
    if _owner(objects, job) is not None:
        raise TooDeepError(TOO_DEEP)
    return found


def next_action(objects: Objects, job: Job, ancestor: Job) -> ladder.Action | None:
    """Return what is next for a Job that is a part of another one."""
    admitted = any(
        one.status.is_true("Admitted") and not one.status.is_true("Evicted")
        for one in objects.workloads_of(ancestor.metadata.uid)
    )
    return None if admitted or job.spec.suspend else ladder.Suspend(NOT_ADMITTED)


def _owner(objects: Objects, job: Job) -> Job | None:
    uids = (one.uid for one in job.metadata.owner_references if one.controller)
    key = objects.job_keys.get(next(uids, ""))
    return objects.jobs[key] if key is not None else None
