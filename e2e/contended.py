"""A queue in which some make way for others: one flavor, and a class that preempts."""

from collections.abc import Mapping

from e2e.nodes import POOL
from e2e.objects import cluster_queue, flavor, local_queue, workload_priority
from e2e.world import World

SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
"""What pods tolerate once they are admitted, as the flavor says."""


def make_contended_queue(space: World, quotas: Mapping[str, str], *, name: str = "team") -> None:
    """Make a queue with quota of each resource, and a class `urgent` that preempts there."""
    space.make(
        flavor(space.name("any"), nodeLabels=POOL, tolerations=[SPOT]),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): quotas},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, name, space.name("cq")),
        workload_priority(space.name("urgent"), 1000),
    )
    space.wait_for_queue(name)
