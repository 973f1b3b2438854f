"""Nodes that are hosts of a topology, and a queue whose pods are placed on them."""

from collections.abc import Iterable, Iterator

from queueing.core.facts import Fact, NodeUsageFact, TopologyFact
from queueing.core.names import ResourceName
from queueing.core.settings import Compatibility, Settings
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.tree import Node
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, quota
from queueing.testing.invariants import check_invariants

MODES = [Settings(compatibility=one) for one in Compatibility]
CPU, PODS = ResourceName("cpu"), ResourceName("pods")
QUEUE: tuple[Fact, ...] = (
    namespace(),
    TopologyFact(name="hosts", levels=(HOSTNAME,)),
    flavor(topology="hosts"),
    cluster_queue("main", {"default": {"cpu": quota(100_000)}}),
    local_queue("team/main", "main"),
)
"""More quota than any nodes of a test have."""


def checked(settings: Settings, objects: Iterable[Fact]) -> Iterator[Engine]:
    """Yield an engine that knows some objects; after its test it must be consistent."""
    made = Engine(settings)
    for one in objects:
        made.observe(one)
    yield made
    check_invariants(made)


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
