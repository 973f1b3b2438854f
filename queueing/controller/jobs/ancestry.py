"""Jobs that a managed Job owns: they have no Workload, and run only while that Job is admitted."""

from collections.abc import Callable

from queueing.controller.stores.objects import Objects
from queueing.translate.jobs import management
from queueing.translate.jobs.view import JobView

NOT_ADMITTED = "The Job that it belongs to is not admitted"


def ancestor_of(
    objects: Objects, job: JobView, is_managed: Callable[[JobView], bool]
) -> JobView | None:
    """Return the topmost managed Job among the controllers above this one; None without one.

    Raises TooDeepError when there are more than ten.
    """
    return management.ancestor_of(job, lambda one: _owner(objects, one), is_managed)


def is_admitted(objects: Objects, ancestor: JobView) -> bool:
    """Say whether the Jobs below a managed one may run."""
    return any(
        one.status.is_true("Admitted") and not one.status.is_true("Evicted")
        for one in objects.workloads_of(ancestor.metadata.uid)
    )


def _owner(objects: Objects, job: JobView) -> JobView | None:
    above = management.controller_of(job.metadata)
    key = objects.job_keys.get(above.uid) if above is not None else None
    return objects.jobs[key] if key is not None else None
