"""Jobs that a managed Job owns: they have no Workload, and run only while that Job is admitted."""

from collections.abc import Callable

from queueing.controller.jobs import ladder
from queueing.controller.stores.objects import Objects
from queueing.translate.jobs import management
from queueing.translate.wire.jobs import Job

NOT_ADMITTED = "The Job that it belongs to is not admitted"


def ancestor_of(objects: Objects, job: Job, is_managed: Callable[[Job], bool]) -> Job | None:
    """Return the topmost managed Job among the controllers above this one; None without one.

    Raises TooDeepError when there are more than ten.
    """
    return management.ancestor_of(job, lambda one: _owner(objects, one), is_managed)


def next_action(objects: Objects, job: Job, ancestor: Job) -> ladder.Action | None:
    """Return the next write for a Job below a managed one; None when there is none."""
    admitted = any(
        one.status.is_true("Admitted") and not one.status.is_true("Evicted")
        for one in objects.workloads_of(ancestor.metadata.uid)
    )
    return None if admitted or job.spec.suspend else ladder.Suspend(NOT_ADMITTED)


def _owner(objects: Objects, job: Job) -> Job | None:
    above = management.controller_of(job.metadata)
    key = objects.job_keys.get(above.uid) if above is not None else None
    return objects.jobs[key] if key is not None else None
