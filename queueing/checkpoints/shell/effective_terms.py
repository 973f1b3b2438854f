"""The effective CheckpointPolicy of a workload, and what stopping the workload would cost."""

from collections.abc import Sequence
from dataclasses import replace

from queueing.checkpoints.rules.terms import OnFailure, Terms
from queueing.checkpoints.shell.observing import owners
from queueing.checkpoints.wire.effective import CheckpointPolicies, Effective
from queueing.checkpoints.wire.stakes import stake
from queueing.controller.stores.objects import Objects
from queueing.core.decisions import PreemptionReason
from queueing.core.stakes import Stake
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


def effective(objects: Objects, workload: Workload, jobs: Sequence[JobView]) -> Effective:
    """Return the effective terms: those of the Jobs' policy within the bounds of the queue's.

    `terms` is None when no policy is named, or the one that is cannot be used; then `complaint`
    says why.
    """
    admission = workload.status.admission
    queue = objects.cluster_queues.get(admission.cluster_queue) if admission else None
    policies = CheckpointPolicies(objects.checkpoints.policies, objects.checkpoints.drivers)
    return policies.effective(workload.metadata.namespace, queue, jobs)


def is_moved(workload: Workload) -> bool:
    """Say whether a workload is stopped only to go on at another place."""
    preempted = workload.status.true_condition("Preempted")
    return preempted is not None and preempted.reason == PreemptionReason.MOVED


def terms_of_stop(terms: Terms, workload: Workload) -> Terms:
    """Return the terms by which a workload is stopped: one that is moved stays unless it saves."""
    return replace(terms, on_failure=OnFailure.ABORT) if is_moved(workload) else terms


def stake_of(objects: Objects, workload: Workload) -> Stake | None:
    """Return what stopping a workload with quota would cost; None where no terms are effective."""
    checkpoints, meta = objects.checkpoints, workload.metadata
    if not checkpoints.policies or not workload.status.is_true("QuotaReserved"):
        return None
    terms = effective(objects, workload, owners(objects, workload)).terms
    if terms is None:
        return None
    return stake(
        workload, terms, [one.record for one in checkpoints.of_workload(meta.key, meta.uid)]
    )
