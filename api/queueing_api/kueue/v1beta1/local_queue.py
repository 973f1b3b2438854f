"""LocalQueue as v1beta1 spells it: `flavorUsage` in the status."""

from typing import Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.local_queue import LocalQueueFairSharingStatus, LocalQueueSpec
from queueing_api.kueue.v1beta2.quota import FlavorUsages
from queueing_api.meta.v1 import Conditions, KubeObject
from queueing_api.wire import Count, Wire


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
    flavor_usage: FlavorUsages = Field(default_factory=list)
    """Quota used by this queue's admitted workloads, by flavor and resource."""
    fair_sharing: LocalQueueFairSharingStatus | None = None
    """Where this queue stands in fair sharing."""


class LocalQueue(KubeObject):
    """The door of a namespace to a ClusterQueue; jobs name it in a label."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["LocalQueue"] = "LocalQueue"
    spec: LocalQueueSpec = Field(default_factory=LocalQueueSpec)
    """Where the queue leads."""
    status: LocalQueueStatus = Field(default_factory=LocalQueueStatus)
    """How many wait in it, and what its workloads use."""
