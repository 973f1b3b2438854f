"""Jobs that a managed job owns: they have no Workload, and run only while that job is admitted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from queueing.controller.stores.gang_members import is_finished
from queueing.controller.stores.objects import Objects
from queueing.translate.jobs import management
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Identified

NOT_ADMITTED = "The Job that it belongs to is not admitted"


@dataclass(frozen=True, slots=True)
class Ancestry:
    """Finds who is queued in the place of a job."""

    objects: Objects
    is_managed: Callable[[JobView], bool]
    passed: Mapping[str, Identified] = field(default_factory=dict)
    """Owners that are not jobs in `objects`, and may be owned by one that is, by uid."""

    def ancestor_of(self, job: JobView) -> JobView | None:
        """Return the topmost managed job among the controllers above this one; None without one.

        Raises TooDeepError when there are more than ten.
        """
        lowest: JobView | Identified = job
        found = management.ancestor_of(lowest, self._owner, self._counts)
        return found if isinstance(found, JobView) else None

    def is_admitted(self, ancestor: JobView) -> bool:
        """Say whether the jobs below a managed one may run: its end gives its quota back."""
        return any(
            one.status.is_true("Admitted")
            and not (one.status.is_true("Evicted") or is_finished(one))
            for one in self.objects.workloads_of(ancestor.metadata.uid)
        )

    def _owner(self, job: JobView | Identified) -> JobView | Identified | None:
        above = management.controller_of(job.metadata)
        if above is None:
            return None
        key = self.objects.job_keys.get(above.uid)
        return self.objects.jobs[key] if key is not None else self.passed.get(above.uid)

    def _counts(self, one: JobView | Identified) -> bool:
        return isinstance(one, JobView) and self.is_managed(one)
