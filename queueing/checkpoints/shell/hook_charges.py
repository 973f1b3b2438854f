"""Charges hook Jobs, which save a checkpoint for a workload, to that workload while they run.

Hook Jobs do not wait for quota, since they run so that quota gets free. The charge may therefore
exceed the queue's quota; it keeps others from being admitted into it, and the queue of the workload
pays for it.
"""

from collections.abc import Iterator
from dataclasses import replace

from queueing.checkpoints.memory import CheckpointMemory, SeenCheckpoint
from queueing.checkpoints.rules.terms import Driver
from queueing.checkpoints.shell.effective_terms import stake_of
from queueing.checkpoints.wire.hook_job import name_of, used
from queueing.controller.stores.objects import Objects
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, Key, ResourceName
from queueing.translate.requests import Surroundings
from queueing.translate.wire.workloads import Workload


def used_beside(
    objects: Objects, workload: Workload, around: Surroundings
) -> dict[FlavorResource, int]:
    """Return what is charged to a Workload for its open requests' hook Jobs, by flavor-resource.

    The flavor is that of the Workload's own pods, else the first by which its ClusterQueue covers
    the resource. A resource that the queue does not cover is not charged.
    """
    checkpoints, meta = objects.checkpoints, workload.metadata
    if workload.status.admission is None:
        return {}
    total: dict[FlavorResource, int] = {}
    for seen in checkpoints.open_requests(meta.key):
        job = objects.jobs.get(_hook_of(seen)) if _is_by_job(seen) else None
        if job is None or seen.workload_uid != meta.uid:
            continue
        if all(owner.uid != seen.meta.uid for owner in job.metadata.owner_references):
            continue
        for resource, amount in used(job, around).items():
            flavor = _flavor_of(objects, workload, resource)
            if flavor:
                key = FlavorResource(FlavorName(flavor), ResourceName(resource))
                total[key] = total.get(key, 0) + amount
    return total


def with_requests(
    objects: Objects, workload: Workload, fact: WorkloadFact, around: Surroundings
) -> WorkloadFact:
    """Return a Workload's fact with what its preemption would cost, and what hook Jobs use."""
    stake, beside = stake_of(objects, workload), used_beside(objects, workload, around)
    return fact if stake is None and not beside else replace(fact, stake=stake, beside=beside)


def saved_by(checkpoints: CheckpointMemory, job: Key) -> Iterator[Key]:
    """Yield the Workloads for which the Job with this key saves; the Job may be deleted already."""
    _, _, name = job.partition("/")
    if name.startswith("save-"):
        yield from (
            seen.workload
            for seen in checkpoints.open_seen()
            if _is_by_job(seen) and _hook_of(seen) == job
        )


def _is_by_job(seen: SeenCheckpoint) -> bool:
    return seen.record.request.terms.driver is Driver.JOB


def _hook_of(seen: SeenCheckpoint) -> Key:
    return Key(f"{seen.meta.namespace}/{name_of(seen.record.request)}")


def _flavor_of(objects: Objects, workload: Workload, resource: str) -> str:
    admission = workload.status.admission
    if admission is None:
        return ""
    for one in admission.pod_set_assignments:
        if resource in one.flavors:
            return one.flavors[resource]
    queue = objects.cluster_queues.get(admission.cluster_queue)
    groups = queue.spec.resource_groups if queue is not None else ()
    return next(
        (
            group.flavors[0].name
            for group in groups
            if resource in group.covered_resources and group.flavors
        ),
        "",
    )
