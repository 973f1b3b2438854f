"""Workload as v1beta1 spells it: the priority class in two fields, and one misspelt status field.

`accumulatedPastExexcutionTimeSeconds` is spelt so in this version of the API.
"""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta1.topology_request import PodSetTopologyRequest, TopologyAssignment
from queueing_api.kueue.v1beta2.workload import (
    FullPodTemplate,
    PodSetName,
    WorkloadPreemptionGate,
)
from queueing_api.kueue.v1beta2.workload_status import (
    AdmissionCheckState,
    ClusterName,
    PodSetRequest,
    PreemptionGateState,
    ReclaimablePod,
    RequeueState,
    SchedulingStats,
    UnhealthyNode,
)
from queueing_api.marks import SET, list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.wire import Count, DnsSubdomain, Int32, ResourceList, Wire

WORKLOAD_PRIORITY_CLASS = "kueue.x-k8s.io/workloadpriorityclass"
POD_PRIORITY_CLASS = "scheduling.k8s.io/priorityclass"


class PodSet(Wire):
    """Pods that are alike."""

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
    topology_request: PodSetTopologyRequest | None = None
    """How close together the pods are to be placed."""


class WorkloadSpec(Wire):
    """What is to be admitted, and where it waits."""

    pod_sets: Annotated[list[PodSet], Field(min_length=1, max_length=18), list_map("name")]
    """Groups of like pods, all of which are admitted together. Immutable while quota is
    reserved."""
    queue_name: DnsSubdomain | None = None
    """LocalQueue that the workload waits in. Immutable while quota is reserved."""
    priority_class_name: DnsSubdomain | None = None
    """Class that the priority came from."""
    priority_class_source: (
        Literal["kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass", ""]
        | None
    ) = None
    """Kind of that class: a WorkloadPriorityClass or a PriorityClass. Immutable while quota is
    reserved."""
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


class PodSetAssignment(Wire):
    """What a pod set was given."""

    name: Annotated[str, Field(max_length=63)] = "main"
    """Pod set of the spec."""
    flavors: dict[str, DnsSubdomain] = Field(default_factory=dict)
    """ResourceFlavor that each resource comes from."""
    resource_usage: ResourceList = Field(default_factory=dict)
    """Amounts that the whole pod set is charged with, by resource; a multiple of count, unless
    the pods were changed since."""
    count: Count | None = None
    """Pods that were admitted; less than in the spec after partial admission."""
    topology_assignment: TopologyAssignment | None = None
    """Domains that the pods are placed in."""
    delayed_topology_request: Literal["Pending", "Ready"] | None = None
    """Whether the placement is still to be found, because its nodes are only being made."""


class Admission(Wire):
    """What a workload was given."""

    cluster_queue: DnsSubdomain
    """ClusterQueue that is charged."""
    pod_set_assignments: Annotated[list[PodSetAssignment], Field(max_length=18), list_map("name")]
    """What each pod set was given."""


class WorkloadStatus(Wire):
    """Where a workload stands."""

    conditions: Annotated[list[Condition], Field(max_length=16), list_map("type")] = Field(
        default_factory=list
    )
    """Observations: QuotaReserved, Admitted, PodsReady, Evicted, Preempted, Requeued, Finished and
    others, each with its reason."""
    admission: Admission | None = None
    """What the workload was given; unset while it holds no quota."""
    requeue_state: RequeueState | None = None
    """When the workload may be admitted again after an eviction."""
    reclaimable_pods: Annotated[list[ReclaimablePod], Field(max_length=18), list_map("name")] = (
        Field(default_factory=list)
    )
    """Pods whose quota is free already, although the workload goes on. They only grow while quota
    is reserved."""
    admission_checks: Annotated[
        list[AdmissionCheckState], Field(max_length=8), list_map("name")
    ] = Field(default_factory=list)
    """How far each check is that the workload needs."""
    resource_requests: Annotated[list[PodSetRequest], Field(max_length=18), list_map("name")] = (
        Field(default_factory=list)
    )
    """What the pod sets ask for, as queueing counts it; present only while the workload waits."""
    accumulated_past_exexcution_time_seconds: Count | None = None
    """Seconds that the workload was admitted before the current admission."""
    scheduling_stats: SchedulingStats | None = None
    """Counts over the life of the workload."""
    nominated_cluster_names: Annotated[list[ClusterName], Field(max_length=20), SET] = Field(
        default_factory=list
    )
    """Worker clusters that the workload is offered to; empty once one of them took it."""
    cluster_name: ClusterName | None = None
    """Worker cluster that took the workload. Immutable once set."""
    unhealthy_nodes: Annotated[list[UnhealthyNode], Field(max_length=8), list_map("name")] = Field(
        default_factory=list
    )
    """Nodes of the placement that failed and are to be replaced."""
    preemption_gates: Annotated[
        list[PreemptionGateState], Field(max_length=8), list_map("name")
    ] = Field(default_factory=list)
    """Whether each preemption gate is open."""


class Workload(KubeObject):
    """One gang of pods that is admitted to a ClusterQueue as a whole, or waits."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["Workload"] = "Workload"
    spec: WorkloadSpec
    """What is to be admitted, and where it waits."""
    status: WorkloadStatus = Field(default_factory=WorkloadStatus)
    """Where the workload stands: reserved, checked, admitted, evicted or finished."""
