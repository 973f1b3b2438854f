"""Nodes that are hosts of a topology, and a queue whose pods are placed on them."""

from queueing.core.facts import Fact, NodeUsageFact, TopologyFact
from queueing.core.names import ResourceName
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.tree import Node
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, quota

CPU, PODS = ResourceName("cpu"), ResourceName("pods")
QUEUE: tuple[Fact, ...] = (
    namespace(),
    TopologyFact(name="hosts", levels=(HOSTNAME,)),
    flavor(topology="hosts"),
    cluster_queue("main", {"default": {"cpu": quota(100_000)}}),
    local_queue("team/main", "main"),
)
"""More quota than any nodes of a test have."""


def node(name: str, cpu: int, *, schedulable: bool = True) -> Node:
    """Return a node with so many cores."""
    room = {CPU: cpu * 1000, PODS: 10}
    return Node(name=name, labels={HOSTNAME: name}, capacity=room, schedulable=schedulable)


def used(name: str, cpu: int) -> NodeUsageFact:
    """Return what one pod of others uses on a node."""
    return NodeUsageFact(name=name, usage={CPU: cpu * 1000, PODS: 1})


def on(**pods: int) -> Assignment:
    """Return so many pods on each of some nodes."""
    return Assignment((HOSTNAME,), tuple(Domain((name,), count) for name, count in pods.items()))
