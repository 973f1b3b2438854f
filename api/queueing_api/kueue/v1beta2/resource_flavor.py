"""ResourceFlavor: a kind of node that resources come from."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.core.pod import Taint, Toleration
from queueing_api.marks import ATOMIC, MAP_ATOMIC, kubernetes_schema
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import DnsSubdomain, Wire

FullTaint = Annotated[Taint, kubernetes_schema("Taint")]
FullToleration = Annotated[Toleration, kubernetes_schema("Toleration")]


class ResourceFlavorSpec(Wire):
    """Which nodes a flavor stands for."""

    node_labels: Annotated[dict[str, str], Field(max_length=8), MAP_ATOMIC] = Field(
        default_factory=dict
    )
    """Labels of the nodes of this flavor. Pods admitted to it get them as node selector, and a
    workload that asks for other values of these labels cannot use the flavor."""
    node_taints: Annotated[list[FullTaint], Field(max_length=8), ATOMIC] = Field(
        default_factory=list
    )
    """Taints of the nodes of this flavor. Only workloads whose pods tolerate those with effect
    NoSchedule or NoExecute can use it."""
    tolerations: Annotated[list[FullToleration], Field(max_length=8), ATOMIC] = Field(
        default_factory=list
    )
    """Tolerations that pods admitted to this flavor get; they also count against its taints."""
    topology_name: DnsSubdomain | None = None
    """Topology of the nodes of this flavor, for placement close together. Needs at least one
    entry in nodeLabels, and does not change once set."""


class ResourceFlavor(KubeObject):
    """A kind of node, for example spot or with a GPU model, that resources come from."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["ResourceFlavor"] = "ResourceFlavor"
    spec: ResourceFlavorSpec = Field(default_factory=ResourceFlavorSpec)
    """Which nodes the flavor stands for."""
