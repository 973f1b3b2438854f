"""`core/v1`, `node/v1`, `scheduling/v1`: nodes, namespaces, limits and classes, as we read them."""

from typing import Literal

from pydantic import Field

from queueing_api.core.pod import PodCondition, Taint, Toleration
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Int32, ResourceList, Wire


class NodeSpec(Wire):
    """How a node is to be used."""

    taints: list[Taint] = Field(default_factory=list)
    """Marks that keep off pods which do not tolerate them."""
    unschedulable: bool = False
    """Whether new pods are kept off."""


class NodeStatus(Wire):
    """What a node is and has."""

    allocatable: ResourceList = Field(default_factory=dict)
    """Amounts that pods may use in sum."""
    capacity: ResourceList = Field(default_factory=dict)
    """Amounts that the machine has."""
    conditions: list[PodCondition] = Field(default_factory=list)
    """Observations about the node."""


class Node(KubeObject):
    """A machine that runs pods."""

    api_version: Literal["v1"] = "v1"
    kind: Literal["Node"] = "Node"
    spec: NodeSpec = Field(default_factory=NodeSpec)
    """How it is to be used."""
    status: NodeStatus = Field(default_factory=NodeStatus)
    """What it is and has."""


class Namespace(KubeObject):
    """A room for names; its labels decide which ClusterQueues its jobs may use."""

    api_version: Literal["v1"] = "v1"
    kind: Literal["Namespace"] = "Namespace"


class LimitRangeItem(Wire):
    """Defaults and bounds for one sort of object."""

    type: str
    """What is limited: Container, Pod or PersistentVolumeClaim."""
    default: ResourceList = Field(default_factory=dict)
    """Limits for those that give none."""
    default_request: ResourceList = Field(default_factory=dict)
    """Requests for those that give none."""
    max: ResourceList = Field(default_factory=dict)
    """Most that may be asked for."""
    min: ResourceList = Field(default_factory=dict)
    """Least that must be asked for."""
    max_limit_request_ratio: ResourceList = Field(default_factory=dict)
    """Most that a limit may be above its request, as a factor."""


class LimitRangeSpec(Wire):
    """Defaults and bounds in a namespace."""

    limits: list[LimitRangeItem] = Field(default_factory=list)
    """One entry per sort of object."""


class LimitRange(KubeObject):
    """Defaults and bounds for the requests of pods and containers in a namespace."""

    api_version: Literal["v1"] = "v1"
    kind: Literal["LimitRange"] = "LimitRange"
    spec: LimitRangeSpec = Field(default_factory=LimitRangeSpec)
    """The defaults and bounds."""


class RuntimeClassOverhead(Wire):
    """What running a pod costs beside its containers."""

    pod_fixed: ResourceList = Field(default_factory=dict)
    """Amounts per pod."""


class RuntimeClassScheduling(Wire):
    """Nodes that can run the class."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels that such nodes have."""
    tolerations: list[Toleration] = Field(default_factory=list)
    """Taints that such nodes may have."""


class RuntimeClass(KubeObject):
    """A way to run pods."""

    api_version: Literal["node.k8s.io/v1"] = "node.k8s.io/v1"
    kind: Literal["RuntimeClass"] = "RuntimeClass"
    handler: str = ""
    """Name of the node's handler."""
    overhead: RuntimeClassOverhead | None = None
    """What it costs beside the containers."""
    scheduling: RuntimeClassScheduling | None = None
    """Nodes that can run it."""


class PriorityClass(KubeObject):
    """A named pod priority."""

    api_version: Literal["scheduling.k8s.io/v1"] = "scheduling.k8s.io/v1"
    kind: Literal["PriorityClass"] = "PriorityClass"
    value: Int32 = 0
    """Priority that the name stands for; higher goes first."""
    global_default: bool = False
    """Whether pods that name no class get this one."""
    description: str = ""
    """What it is for."""
    preemption_policy: str = "PreemptLowerPriority"
    """Whether its pods may preempt: PreemptLowerPriority or Never."""
