"""ProvisioningRequestConfig: how an admission check asks an autoscaler for room."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import SET, list_map
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Count, ResourceName, Wire


class ProvisioningRequestRetryStrategy(Wire):
    """What happens after a request failed."""

    backoff_limit_count: Count = 3
    """Retries before the check is rejected."""
    backoff_base_seconds: Count = 60
    """Seconds before the first retry; each further one waits twice as long."""
    backoff_max_seconds: Count = 1800
    """Most seconds between two retries."""


class PodSetUpdateNodeSelector(Wire):
    """A node selector taken from what was provisioned."""

    key: Annotated[str, Field(min_length=1, max_length=317)]
    """Node label that the pods are to select."""
    value_from_provisioning_class_detail: Annotated[str, Field(min_length=1, max_length=32768)]
    """Detail in the status of the ProvisioningRequest whose value the label must have."""


class ProvisioningRequestPodSetUpdates(Wire):
    """What pods get when their room is ready."""

    node_selector: Annotated[
        list[PodSetUpdateNodeSelector], Field(max_length=8), list_map("key")
    ] = Field(default_factory=list)
    """Node selectors that the pods get."""


class ProvisioningRequestConfigSpec(Wire):
    """What a ProvisioningRequest is made from."""

    provisioning_class_name: Annotated[
        str,
        Field(
            max_length=253,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        ),
    ]
    """Way of provisioning, as the autoscaler calls it."""
    parameters: Annotated[
        dict[str, Annotated[str, Field(max_length=255)]], Field(max_length=100)
    ] = Field(default_factory=dict)
    """Parameters of the provisioning class."""
    managed_resources: Annotated[list[ResourceName], Field(max_length=100), SET] = Field(
        default_factory=list
    )
    """Resources that are provisioned. Workloads that ask for none of them pass the check at once;
    empty means that every workload is provisioned for."""
    retry_strategy: ProvisioningRequestRetryStrategy = ProvisioningRequestRetryStrategy()
    """What happens after a request failed."""
    pod_set_updates: ProvisioningRequestPodSetUpdates | None = None
    """What pods get when their room is ready."""
    pod_set_merge_policy: (
        Literal["IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"] | None
    ) = None
    """Which pod sets become one in the request: those with equal templates, or those with equal
    demands on scheduling. Unset keeps them apart."""


class ProvisioningRequestConfig(KubeObject):
    """How an AdmissionCheck asks an autoscaler for room."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["ProvisioningRequestConfig"] = "ProvisioningRequestConfig"
    spec: ProvisioningRequestConfigSpec
    """What requests are made from."""
