"""The status of a Workload: where it stands between waiting and finished."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.core.pod import Toleration
from queueing_api.kueue.v1beta2.topology_request import TopologyAssignment
from queueing_api.marks import ATOMIC, SET, kubernetes_schema, list_map
from queueing_api.meta.v1 import Condition
from queueing_api.wire import Count, DnsSubdomain, ResourceList, Time, Wire

PodSetName = Annotated[str, Field(max_length=63)]
CheckName = Annotated[str, Field(max_length=316)]
ClusterName = Annotated[str, Field(max_length=256)]
FullToleration = Annotated[Toleration, kubernetes_schema("Toleration")]
CheckStateName = Literal["Pending", "Ready", "Retry", "Rejected"]


class PodSetAssignmentBase(Wire):
    """What a pod set was given, as both versions spell it."""

    name: PodSetName = "main"
    """Pod set of the spec."""
    flavors: dict[str, DnsSubdomain] = Field(default_factory=dict)
    """ResourceFlavor that each resource comes from."""
    resource_usage: ResourceList = Field(default_factory=dict)
    """Amounts that the whole pod set is charged with, by resource; a multiple of count, unless
    the pods were changed since."""
    count: Count | None = None
    """Pods that were admitted; less than in the spec after partial admission."""
    delayed_topology_request: Literal["Pending", "Ready"] | None = None
    """Whether the placement is still to be found, because its nodes are only being made."""


class PodSetAssignment(PodSetAssignmentBase):
    """What a pod set was given."""

    topology_assignment: TopologyAssignment | None = None
    """Domains that the pods are placed in."""


class Admission(Wire):
    """What a workload was given."""

    cluster_queue: DnsSubdomain
    """ClusterQueue that is charged."""
    pod_set_assignments: Annotated[list[PodSetAssignment], Field(max_length=18), list_map("name")]
    """What each pod set was given."""


class RequeueState(Wire):
    """When an evicted workload may be admitted again."""

    count: Count | None = None
    """Evictions by failed start or retried checks so far."""
    requeue_at: Time | None = None
    """Time before which the workload is not admitted again."""


class ReclaimablePod(Wire):
    """Pods that will not need their quota again."""

    name: PodSetName
    """Pod set of the spec."""
    count: Count
    """Pods of the set whose quota is free."""


class PodSetUpdate(Wire):
    """What a check adds to the pods of a set."""

    name: PodSetName
    """Pod set of the spec."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels that the pods get."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Annotations that the pods get."""
    node_selector: dict[str, str] = Field(default_factory=dict)
    """Node selector entries that the pods get."""
    tolerations: Annotated[list[FullToleration], Field(max_length=8), ATOMIC] = Field(
        default_factory=list
    )
    """Tolerations that the pods get."""


class AdmissionCheckState(Wire):
    """How far a check is."""

    name: CheckName
    """AdmissionCheck that the entry is about."""
    state: CheckStateName
    """Pending: not decided. Ready: agreed. Retry: quota is given back and tried again. Rejected:
    the workload is deactivated."""
    last_transition_time: Time
    """When the state changed last."""
    message: Annotated[str, Field(max_length=32768)]
    """Why it is so, as a sentence for people; may be empty."""
    requeue_after_seconds: Count | None = None
    """Least seconds until the next try, after Retry."""
    retry_count: Count | None = None
    """Retries so far."""
    pod_set_updates: Annotated[list[PodSetUpdate], Field(max_length=18), ATOMIC] = Field(
        default_factory=list
    )
    """What the check adds to pods when they start."""


class PodSetRequest(Wire):
    """What a pod set asks for, as queueing counts it."""

    name: PodSetName = "main"
    """Pod set of the spec."""
    resources: ResourceList = Field(default_factory=dict)
    """Amounts for the whole pod set, by resource."""


class WorkloadSchedulingStatsEviction(Wire):
    """How often a workload was evicted for one reason."""

    reason: Annotated[str, Field(max_length=316)]
    """Reason of the Evicted condition."""
    underlying_cause: Annotated[str, Field(max_length=316)] = ""
    """What stands behind the reason; empty where the reason says all."""
    count: Count
    """Evictions for this reason and cause."""


class SchedulingStats(Wire):
    """Counts over the life of a workload."""

    evictions: Annotated[
        list[WorkloadSchedulingStatsEviction], list_map("reason", "underlyingCause")
    ] = Field(default_factory=list)
    """Evictions by reason and cause."""


class UnhealthyNode(Wire):
    """A node that fails a running workload."""

    name: Annotated[str, Field(min_length=1, max_length=63)]
    """Name of the node."""


class PreemptionGateState(Wire):
    """Whether a preemption gate is open."""

    name: Annotated[str, Field(min_length=1, max_length=316)]
    """Gate of the spec."""
    position: Literal["Closed", "Open"]
    """Closed keeps the workload from preempting others; Open does not."""
    last_transition_time: Time
    """When the position changed last."""


class WorkloadStatusBase(Wire):
    """Where a workload stands, as both versions spell it."""

    conditions: Annotated[list[Condition], Field(max_length=16), list_map("type")] = Field(
        default_factory=list
    )
    """Observations: QuotaReserved, Admitted, PodsReady, Evicted, Preempted, Requeued, Finished and
    others, each with its reason."""
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


class WorkloadStatus(WorkloadStatusBase):
    """Where a workload stands."""

    admission: Admission | None = None
    """What the workload was given; unset while it holds no quota."""
    accumulated_past_execution_time_seconds: Count | None = None
    """Seconds that the workload was admitted before the current admission."""
