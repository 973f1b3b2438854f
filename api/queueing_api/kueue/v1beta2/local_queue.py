"""LocalQueue: the door of a namespace to a ClusterQueue."""

from typing import Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.cluster_queue import StopPolicy
from queueing_api.kueue.v1beta2.quota import FairSharing, FlavorUsages
from queueing_api.meta.v1 import Conditions, KubeObject
from queueing_api.wire import Count, DnsSubdomain, Int64, ResourceList, Time, Wire


class LocalQueueSpec(Wire):
    """Where a LocalQueue leads."""

    cluster_queue: DnsSubdomain | None = None
    """ClusterQueue that the workloads of this queue wait in. Immutable."""
    stop_policy: StopPolicy = "None"
    """Hold stops new admissions from this queue and cancels reservations that are not yet
    admitted; HoldAndDrain also evicts what is admitted; None lets work go on."""
    fair_sharing: FairSharing | None = None
    """How much this queue's past usage counts. Used only by admission fair sharing."""


class AdmissionFairSharingStatus(Wire):
    """Past usage that admission fair sharing remembers."""

    consumed_resources: ResourceList = Field(default_factory=dict)
    """Usage so far, decaying with the configured half-life, by resource."""
    last_update: Time
    """When the usage was brought up to date."""


class LocalQueueFairSharingStatus(Wire):
    """Where a LocalQueue stands in fair sharing."""

    weighted_share: Int64
    """Share of the cohort's resources that this queue borrows, in thousandths and divided by the
    weight."""
    admission_fair_sharing_status: AdmissionFairSharingStatus | None = None
    """Past usage that admission fair sharing remembers."""


class LocalQueueStatus(Wire):
    """How many wait in a LocalQueue, and what its workloads use."""

    conditions: Conditions = Field(default_factory=list)
    """Observations: Active says whether workloads can be submitted, and what is missing."""
    pending_workloads: Count = Field(default_factory=int)
    """Workloads that wait for quota."""
    reserving_workloads: Count = Field(default_factory=int)
    """Workloads that hold quota, admitted or still in their checks."""
    admitted_workloads: Count = Field(default_factory=int)
    """Workloads that are admitted and not finished."""
    flavors_reservation: FlavorUsages = Field(default_factory=list)
    """Quota reserved by this queue's workloads, by flavor and resource."""
    flavors_usage: FlavorUsages = Field(default_factory=list)
    """Quota used by this queue's admitted workloads, by flavor and resource."""
    fair_sharing: LocalQueueFairSharingStatus | None = None
    """Where this queue stands in fair sharing."""


class LocalQueue(KubeObject):
    """The door of a namespace to a ClusterQueue; jobs name it in a label."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["LocalQueue"] = "LocalQueue"
    spec: LocalQueueSpec = Field(default_factory=LocalQueueSpec)
    """Where the queue leads."""
    status: LocalQueueStatus = Field(default_factory=LocalQueueStatus)
    """How many wait in it, and what its workloads use."""
