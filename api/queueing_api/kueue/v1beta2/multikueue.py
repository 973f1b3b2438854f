"""MultiKueueConfig and MultiKueueCluster: worker clusters that workloads can be sent to."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ONE_PROPERTY, SET
from queueing_api.meta.v1 import Conditions, KubeObject
from queueing_api.wire import Wire

ClusterName = Annotated[str, Field(min_length=1, max_length=256)]


class MultiKueueConfigSpec(Wire):
    """The worker clusters of a check."""

    clusters: Annotated[list[ClusterName], Field(min_length=1, max_length=20), SET]
    """MultiKueueCluster objects that workloads may be sent to; the incremental dispatcher tries
    them in this order."""
    quota_management: Literal["Manual", "Automated"] | None = None
    """Who sets the quotas of ClusterQueues that use this configuration: Manual leaves them to the
    administrator (also when unset), Automated derives them from the workers."""


class MultiKueueConfig(KubeObject):
    """The worker clusters that an AdmissionCheck sends workloads to."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["MultiKueueConfig"] = "MultiKueueConfig"
    spec: MultiKueueConfigSpec
    """The worker clusters."""


class KubeConfig(Wire):
    """Where the access to a worker cluster is kept."""

    location: str
    """Name of a Secret beside the controller, with the access under the key kubeconfig, or a path
    in the controller's file system."""
    location_type: Literal["Secret", "Path"] = "Secret"
    """What the location is: Secret or Path."""


class ClusterProfileReference(Wire):
    """The ClusterProfile of a worker cluster."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name of the ClusterProfile."""


class ClusterSource(Wire):
    """How a worker cluster is reached: exactly one of its fields."""

    kube_config: KubeConfig | None = None
    """A kubeconfig kept in a Secret or in a file."""
    cluster_profile_ref: ClusterProfileReference | None = None
    """A ClusterProfile that tells how to get access."""


class MultiKueueClusterSpec(Wire):
    """How a worker cluster is reached."""

    cluster_source: Annotated[ClusterSource, ONE_PROPERTY]
    """Where the access comes from: exactly one of kubeConfig and clusterProfileRef."""


class MultiKueueClusterStatus(Wire):
    """Whether a worker cluster is reached."""

    conditions: Conditions = Field(default_factory=list)
    """Observations: Active says whether the worker cluster is connected."""


class MultiKueueCluster(KubeObject):
    """A worker cluster that workloads can be sent to."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["MultiKueueCluster"] = "MultiKueueCluster"
    spec: MultiKueueClusterSpec
    """How the cluster is reached."""
    status: MultiKueueClusterStatus = Field(default_factory=MultiKueueClusterStatus)
    """Whether it is reached."""
