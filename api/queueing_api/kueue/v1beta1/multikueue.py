"""MultiKueueConfig and MultiKueueCluster as v1beta1 spells them: access is always a kubeconfig."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.kueue.v1beta2.multikueue import (
    ClusterName,
    KubeConfig,
    MultiKueueClusterStatus,
)
from queueing_api.marks import SET
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Wire


class MultiKueueConfigSpec(Wire):
    """The worker clusters of a check."""

    clusters: Annotated[list[ClusterName], Field(min_length=1, max_length=20), SET]
    """MultiKueueCluster objects that workloads may be sent to; the incremental dispatcher tries
    them in this order."""


class MultiKueueConfig(KubeObject):
    """The worker clusters that an AdmissionCheck sends workloads to."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["MultiKueueConfig"] = "MultiKueueConfig"
    spec: MultiKueueConfigSpec
    """The worker clusters."""


class MultiKueueClusterSpec(Wire):
    """How a worker cluster is reached."""

    kube_config: KubeConfig
    """A kubeconfig kept in a Secret or in a file."""


class MultiKueueCluster(KubeObject):
    """A worker cluster that workloads can be sent to."""

    api_version: Literal["kueue.x-k8s.io/v1beta1"] = "kueue.x-k8s.io/v1beta1"
    kind: Literal["MultiKueueCluster"] = "MultiKueueCluster"
    spec: MultiKueueClusterSpec
    """How the cluster is reached."""
    status: MultiKueueClusterStatus = Field(default_factory=MultiKueueClusterStatus)
    """Whether it is reached."""
