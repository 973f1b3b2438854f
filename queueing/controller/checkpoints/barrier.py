"""Whether the Jobs of an evicted Workload may be suspended yet.

`Evicted` on the Workload is the commit that it will leave. Between that and the suspension of its
Jobs stands this barrier: it holds from the moment that a notice is due until the request says that
the pods are to end. It reads memory alone, so it is asked at every look, and costs nothing where
there is no policy.
"""

from collections.abc import Callable, Sequence

from queueing.controller.checkpoints.effective_terms import effective
from queueing.controller.checkpoints.observing import is_leaving, is_worth_asking
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.checkpoints.phases import HOLDS_THE_STOP, Phase
from queueing.core.names import Key
from queueing.translate.checkpoints.outbound import epoch_of, name_of
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


class Barrier:
    """Asked by whoever is about to suspend Jobs of an evicted Workload."""

    def __init__(self, objects: Objects, events: Events, attend: Callable[[Key], None]) -> None:
        self._objects, self._events, self._attend = objects, events, attend

    def holds(self, workload: Workload, jobs: Sequence[Job]) -> bool:
        """Say whether these Jobs, all of the Workload's that run, must not be suspended yet."""
        if not is_leaving(workload):
            return False
        meta, checkpoints = workload.metadata, self._objects.checkpoints
        epoch = epoch_of(workload)
        seen = checkpoints.newest(meta.key, meta.uid)
        if seen is not None:
            record = seen.record
            since = record.request.epoch < epoch  # evicted once more since
            if record.is_open and not (since and record.phase is Phase.RELEASED):
                return record.phase in HOLDS_THE_STOP
            if not since:
                self._attend(meta.key)
                return record.phase is Phase.CANCELLED
        if Key(f"{meta.namespace}/{name_of(workload, epoch)}") in checkpoints.unreadable:
            return False
        return self._begins(workload, jobs)

    def _begins(self, workload: Workload, jobs: Sequence[Job]) -> bool:
        """Have a request made where terms ask for one."""
        if not is_worth_asking(workload, jobs):
            return False
        found = effective(self._objects, workload, jobs)
        if found.terms is not None:
            self._attend(workload.metadata.key)
            return True
        if found.complaint:
            evicted = workload.status.true_condition("Evicted")
            said = f"{found.complaint}; stopped without a request to save"
            for job in jobs:
                self._events.job(job.metadata, "CheckpointPolicyUnusable", said, warning=True)
            if evicted is not None:
                self._events.workload(
                    workload.metadata, "CheckpointPolicyUnusable", said, warning=True
                )
        return False
