"""Whether the Jobs of an evicted Workload may be suspended yet.

The condition `Evicted` commits to stopping the Workload. Where a CheckpointPolicy is effective, its
Jobs are suspended only when the request to save has reached a phase in which the pods may end. The
barrier reads memory alone, so that it can be asked at every look.
"""

from collections.abc import Sequence

from queueing.checkpoints.rules.phases import HOLDS_THE_STOP, Phase
from queueing.checkpoints.shell.effective_terms import effective
from queueing.checkpoints.shell.observing import is_leaving, is_worth_asking
from queueing.checkpoints.wire.outbound import epoch_of, name_of
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.names import Key
from queueing.kube.workqueue import WorkQueue
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


class Barrier:
    """Asked by the reconcilers of Jobs and gangs before they suspend a running Job.

    `requests` are the keys of Workloads whose requests are to be reconciled.
    """

    def __init__(self, objects: Objects, events: Events, requests: WorkQueue[Key]) -> None:
        self._objects, self._events, self._requests = objects, events, requests

    def holds(self, workload: Workload, jobs: Sequence[JobView]) -> bool:
        """Say whether these Jobs, all that run of the Workload, must not be suspended yet.

        Also asks for a request to be made where the effective terms want one.
        """
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
                self._requests.add(meta.key)
                return record.phase is Phase.CANCELLED
        if Key(f"{meta.namespace}/{name_of(workload, epoch)}") in checkpoints.unreadable:
            return False
        return self._begins(workload, jobs)

    def _begins(self, workload: Workload, jobs: Sequence[JobView]) -> bool:
        """Ask for a request where terms are effective; say whether it has to be waited for.

        Where the policy that is named cannot be used, an Event says that the work is not saved.
        """
        if not is_worth_asking(workload, jobs):
            return False
        found = effective(self._objects, workload, jobs)
        if found.terms is not None:
            self._requests.add(workload.metadata.key)
            return True
        if found.complaint:
            evicted = workload.status.true_condition("Evicted")
            said = f"{found.complaint}; stopped without a request to save"
            for job in jobs:
                self._events.job(job, "CheckpointPolicyUnusable", said, warning=True)
            if evicted is not None:
                self._events.workload(
                    workload.metadata, "CheckpointPolicyUnusable", said, warning=True
                )
        return False
