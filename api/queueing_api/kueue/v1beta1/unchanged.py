"""Kinds that differ from v1beta2 in the name of the version alone."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.admission_check import AdmissionCheckSpec, AdmissionCheckStatus
from queueing_api.kueue.v1beta2.cohort import CohortSpec, CohortStatus
from queueing_api.kueue.v1beta2.provisioning import ProvisioningRequestConfigSpec
from queueing_api.kueue.v1beta2.resource_flavor import ResourceFlavorSpec
from queueing_api.kueue.v1beta2.topology import TopologySpec
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Int32


class AdmissionCheck(KubeObject):
    """Something outside the quota that must agree before a workload is admitted."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["AdmissionCheck"] = "AdmissionCheck"
    spec: AdmissionCheckSpec
    """Who decides the check."""
    status: AdmissionCheckStatus = Field(default_factory=AdmissionCheckStatus)
    """Whether the check works."""


class Cohort(KubeObject):
    """A group of ClusterQueues and Cohorts that lend each other what is idle."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["Cohort"] = "Cohort"
    spec: CohortSpec = Field(default_factory=CohortSpec)
    """Where the Cohort stands in the tree, and what it adds."""
    status: CohortStatus = Field(default_factory=CohortStatus)
    """Where it stands in fair sharing."""


class ProvisioningRequestConfig(KubeObject):
    """How an AdmissionCheck asks an autoscaler for room."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["ProvisioningRequestConfig"] = "ProvisioningRequestConfig"
    spec: ProvisioningRequestConfigSpec
    """What requests are made from."""


class ResourceFlavor(KubeObject):
    """A kind of node, for example spot or with a GPU model, that resources come from."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["ResourceFlavor"] = "ResourceFlavor"
    spec: ResourceFlavorSpec = Field(default_factory=ResourceFlavorSpec)
    """Which nodes the flavor stands for."""


class Topology(KubeObject):
    """The levels in which the nodes of a data center are grouped."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["Topology"] = "Topology"
    spec: TopologySpec
    """How nodes are grouped."""


class WorkloadPriorityClass(KubeObject):
    """A named priority for queueing and preemption that leaves the pods' priority alone."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["WorkloadPriorityClass"] = "WorkloadPriorityClass"
    value: Int32
    """Priority of workloads that name this class; higher goes first. A change reaches the
    workloads that use the class."""
    description: Annotated[str, Field(max_length=2048)] = Field(default_factory=str)
    """When the class is to be used, in words for its users."""
