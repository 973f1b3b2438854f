"""Which changes of a ClusterQueue concern the Workloads that queue in it or hold its quota."""

from queueing.translate.checkpoints.names import POLICY
from queueing.translate.wire.queues import ClusterQueue


def policy_of(queue: ClusterQueue | None) -> str:
    """Return the CheckpointPolicy that a ClusterQueue names."""
    return "" if queue is None else queue.metadata.annotations.get(POLICY, "")


def changes_lives(before: ClusterQueue, after: ClusterQueue) -> bool:
    """Say whether those that hold quota of a queue must be looked at."""
    return (
        before.spec.stop_policy != after.spec.stop_policy
        or before.spec.admission_checks_strategy != after.spec.admission_checks_strategy
        or _offers(before) != _offers(after)
    )


def _offers(queue: ClusterQueue) -> list[tuple[list[str], list[str]]]:
    """Return which resources of which flavors a queue has quota of, whatever the amounts."""
    return [
        (group.covered_resources, [one.name for one in group.flavors])
        for group in queue.spec.resource_groups
    ]
