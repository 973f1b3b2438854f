"""Cohort: a group of ClusterQueues and Cohorts that lend each other what is idle."""

from typing import Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.quota import (
    CohortName,
    FairSharing,
    FairSharingStatus,
    ResourceGroups,
)
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Wire


class CohortSpec(Wire):
    """Where a Cohort stands in the tree, and what it adds."""

    parent_name: CohortName | None = None
    """Cohort above this one. Unset makes it a root. A parent that is no object counts as a root
    without quota of its own; a cycle stops all its ClusterQueues until it is broken."""
    resource_groups: ResourceGroups = Field(default_factory=list)
    """Quotas that the Cohort adds to those of its members, to be shared by all below it. Limits on
    borrowing and lending hold between it and its parent, so they need one; the lending limit may
    exceed the nominal quota, because it counts what the members lend too."""
    fair_sharing: FairSharing | None = None
    """How much this Cohort counts when its parent's idle resources are shared out. Used only
    while fair sharing is switched on."""


class CohortStatus(Wire):
    """Where a Cohort stands."""

    fair_sharing: FairSharingStatus | None = None
    """Where this Cohort stands in fair sharing."""


class Cohort(KubeObject):
    """A group of ClusterQueues and Cohorts that lend each other what is idle."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["Cohort"] = "Cohort"
    spec: CohortSpec = Field(default_factory=CohortSpec)
    """Where the Cohort stands in the tree, and what it adds."""
    status: CohortStatus = Field(default_factory=CohortStatus)
    """Where it stands in fair sharing."""
