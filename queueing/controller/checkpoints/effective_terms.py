"""Which terms hold for a workload, and what is at stake in it, by the objects that we see."""

from collections.abc import Sequence

from queueing.controller.checkpoints.observing import owners
from queueing.controller.stores.objects import Objects
from queueing.core.stakes import Stake
from queueing.translate.checkpoints.effective import Effective, Policies
from queueing.translate.checkpoints.stakes import stake
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


def effective(objects: Objects, workload: Workload, jobs: Sequence[Job]) -> Effective:
    """Return what holds; without a policy that can be used there are no terms."""
    admission = workload.status.admission
    queue = objects.cluster_queues.get(admission.cluster_queue) if admission else None
    policies = Policies(objects.checkpoints.policies, objects.checkpoints.drivers)
    return policies.effective(workload.metadata.namespace, queue, jobs)


def stake_of(objects: Objects, workload: Workload) -> Stake | None:
    """Return what is at stake in a workload that holds quota; None where no policy speaks of it."""
    checkpoints, meta = objects.checkpoints, workload.metadata
    if not checkpoints.policies or not workload.status.is_true("QuotaReserved"):
        return None
    terms = effective(objects, workload, owners(objects, workload)).terms
    if terms is None:
        return None
    return stake(
        workload, terms, [one.record for one in checkpoints.of_workload(meta.key, meta.uid)]
    )
