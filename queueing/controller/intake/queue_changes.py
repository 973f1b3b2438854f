"""Which changes of a ClusterQueue concern the Workloads that queue in it or hold its quota."""

from queueing.checkpoints.wire.names import POLICY
from queueing.translate.wire.queues import ClusterQueue


def policy_of(queue: ClusterQueue | None) -> str:
    """Return the CheckpointPolicy that a ClusterQueue's annotation names; empty without one."""
    return "" if queue is None else queue.metadata.annotations.get(POLICY, "")


def changes_lives(before: ClusterQueue, after: ClusterQueue) -> bool:
    """Say whether the Workloads of a queue must be reconciled: evicted, checked or warned anew."""
    return (
        before.spec.stop_policy != after.spec.stop_policy
        or before.spec.admission_checks_strategy != after.spec.admission_checks_strategy
        or _offers(before) != _offers(after)
    )


def _offers(queue: ClusterQueue) -> list[tuple[list[str], list[str]]]:
    """Return the resources and flavors that a queue has quota for, whatever the amounts."""
    return [
        (group.covered_resources, [one.name for one in group.flavors])
        for group in queue.spec.resource_groups
    ]
