"""Nodes, and the pods on them: what placement by topology reads."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime

from queueing.translate.wire.meta import Meta, Resources, Wire
from queueing.translate.wire.pods import PodSpec, Taint


class NodeCondition(Wire, frozen=True):
    """A condition of a node, such as Ready."""

    type: str = ""
    status: str = ""
    last_transition_time: datetime | None = None


class NodeSpec(Wire, frozen=True):
    """How a node is to be used."""

    unschedulable: bool = False
    taints: list[Taint] = []


class NodeStatus(Wire, frozen=True):
    """What a node offers."""

    capacity: Resources = {}
    allocatable: Resources = {}
    conditions: list[NodeCondition] = []

    @property
    def offers(self) -> Resources:
        """What pods may use: all that there is where nothing else is said, as in Kubernetes."""
        return self.allocatable or self.capacity


class Node(Wire, frozen=True):
    """A node."""

    metadata: Meta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def schedulable(self) -> bool:
        """Whether it is Ready and not cordoned."""
        ready = any(one.type == "Ready" and one.status == "True" for one in self.status.conditions)
        return ready and not self.spec.unschedulable


class BoundSpec(PodSpec, frozen=True):
    """Spec of a pod, and the node that it is bound to."""

    node_name: str = ""


class PodStatus(Wire, frozen=True):
    """How far a pod has come."""

    phase: str = ""


class BoundPod(Wire, frozen=True):
    """A pod, as far as its node is concerned."""

    metadata: Meta
    spec: BoundSpec = BoundSpec()
    status: PodStatus = PodStatus()

    @property
    def runs(self) -> bool:
        """Whether it takes room on a node: it is bound, and has not ended."""
        return bool(self.spec.node_name) and self.status.phase not in ("Succeeded", "Failed")
