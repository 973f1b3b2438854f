"""Workload as v1beta1 spells it: the priority class in two fields, and one misspelt status field.

`accumulatedPastExexcutionTimeSeconds` is spelt so in this version of the API.
"""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta1.topology_request import PodSetTopologyRequest, TopologyAssignment
from queueing_api.kueue.v1beta2.workload import PodSetBase, WorkloadSpecBase
from queueing_api.kueue.v1beta2.workload_status import PodSetAssignmentBase, WorkloadStatusBase
from queueing_api.marks import list_map
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Count, DnsSubdomain, Wire

WORKLOAD_PRIORITY_CLASS = "kueue.x-k8s.io/workloadpriorityclass"
POD_PRIORITY_CLASS = "scheduling.k8s.io/priorityclass"


class PodSet(PodSetBase):
    """Pods that are alike."""

    topology_request: PodSetTopologyRequest | None = None
    """How close together the pods are to be placed."""


class WorkloadSpec(WorkloadSpecBase):
    """What is to be admitted, and where it waits."""

    pod_sets: Annotated[list[PodSet], Field(min_length=1, max_length=18), list_map("name")]
    """Groups of like pods, all of which are admitted together. Immutable while quota is
    reserved."""
    priority_class_name: DnsSubdomain | None = None
    """Class that the priority came from."""
    priority_class_source: (
        Literal["kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass", ""]
        | None
    ) = None
    """Kind of that class: a WorkloadPriorityClass or a PriorityClass. Immutable while quota is
    reserved."""


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


class WorkloadStatus(WorkloadStatusBase):
    """Where a workload stands."""

    admission: Admission | None = None
    """What the workload was given; unset while it holds no quota."""
    accumulated_past_exexcution_time_seconds: Count | None = None
    """Seconds that the workload was admitted before the current admission."""


class Workload(KubeObject):
    """One gang of pods that is admitted to a ClusterQueue as a whole, or waits."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["Workload"] = "Workload"
    spec: WorkloadSpec
    """What is to be admitted, and where it waits."""
    status: WorkloadStatus = Field(default_factory=WorkloadStatus)
    """Where the workload stands: reserved, checked, admitted, evicted or finished."""
