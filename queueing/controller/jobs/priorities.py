"""The priority that a Job's Workload gets."""

from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.translate import labels
from queueing.translate.jobs.priority import MissingClass, Priority, PriorityClasses, priority_of
from queueing.translate.jobs.view import JobView


def resolve(objects: Objects, events: Events, job: JobView) -> Priority | None:
    """Return a Job's priority, by its WorkloadPriorityClass or its pods' PriorityClass.

    None when that class does not exist. Then an Event says so, and the Job waits for the class.
    """
    found = priority_of(
        job.metadata.labels.get(labels.PRIORITY_CLASS, ""),
        job.priority_class,
        PriorityClasses(
            workload=objects.workload_priority_classes,
            pod=objects.priority_classes,
        ),
    )
    if isinstance(found, MissingClass):
        events.job(
            job,
            f"{found.kind}NotFound",
            f"{found.kind} {found.name!r} does not exist; the job waits for it",
            warning=True,
        )
        return None
    return found
