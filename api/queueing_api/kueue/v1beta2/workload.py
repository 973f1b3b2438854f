"""Workload: one gang of pods that is admitted as a whole, or waits."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.core.pod import PodTemplateSpec
from queueing_api.kueue.v1beta2.topology_request import PodSetTopologyRequest
from queueing_api.kueue.v1beta2.workload_status import WorkloadStatus
from queueing_api.marks import kubernetes_schema, list_map
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Count, DnsSubdomain, Int32, Wire

PodSetName = Annotated[
    str, Field(max_length=63, pattern=r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")
]
FullPodTemplate = Annotated[PodTemplateSpec, kubernetes_schema("PodTemplateSpec")]


class PodSetBase(Wire):
    """Pods that are alike, as both versions spell them."""

    name: PodSetName = "main"
    """Name of the pod set, unique in the workload."""
    template: FullPodTemplate
    """What each pod is made from; its requests, node selector, affinity and tolerations decide
    where the workload fits."""
    count: Count = 1
    """Pods of the set."""
    min_count: Annotated[Int32, Field(ge=1)] | None = None
    """Fewest pods with which the workload may start when not all fit. At most one pod set of a
    workload can say so; not more than count."""


class PodSet(PodSetBase):
    """Pods that are alike."""

    topology_request: PodSetTopologyRequest | None = None
    """How close together the pods are to be placed."""


class PriorityClassReference(Wire):
    """The class that a priority came from."""

    group: Literal["kueue.x-k8s.io", "scheduling.k8s.io"]
    """API group of the class."""
    kind: Literal["WorkloadPriorityClass", "PriorityClass"]
    """Kind of the class: WorkloadPriorityClass of kueue.x-k8s.io or PriorityClass of
    scheduling.k8s.io."""
    name: Annotated[DnsSubdomain, Field(min_length=1)]
    """Name of the class."""


class WorkloadPreemptionGate(Wire):
    """Something that must open before the workload may preempt others."""

    name: Annotated[str, Field(min_length=1, max_length=316)]
    """Name of the gate."""


class WorkloadSpecBase(Wire):
    """What is to be admitted, and where it waits, as both versions spell it."""

    queue_name: DnsSubdomain | None = None
    """LocalQueue that the workload waits in. Immutable while quota is reserved."""
    priority: Int32 | None = None
    """Priority that queue order and preemption use; higher goes first. Unset counts as zero.
    Required with a priority class. A change takes effect at once."""
    active: bool = True
    """Whether the workload may be admitted. False evicts it if it was, and keeps it from the
    queue."""
    maximum_execution_time_seconds: Annotated[Int32, Field(ge=1)] | None = None
    """Most seconds that the workload may be admitted, summed over its admissions; then it is
    deactivated. Immutable while admitted."""
    preemption_gates: Annotated[
        list[WorkloadPreemptionGate], Field(max_length=8), list_map("name")
    ] = Field(default_factory=list)
    """Gates that must be open before the workload may preempt others."""


class WorkloadSpec(WorkloadSpecBase):
    """What is to be admitted, and where it waits."""

    pod_sets: Annotated[list[PodSet], Field(min_length=1, max_length=18), list_map("name")]
    """Groups of like pods, all of which are admitted together. Immutable while quota is
    reserved."""
    priority_class_ref: PriorityClassReference | None = None
    """Class that the priority came from. While quota is reserved, only the name of a
    WorkloadPriorityClass may change."""


class Workload(KubeObject):
    """One gang of pods that is admitted to a ClusterQueue as a whole, or waits."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["Workload"] = "Workload"
    spec: WorkloadSpec
    """What is to be admitted, and where it waits."""
    status: WorkloadStatus = Field(default_factory=WorkloadStatus)
    """Where the workload stands: reserved, checked, admitted, evicted or finished."""
