"""WorkloadPriorityClass: a named priority for queueing, apart from the priority of pods."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Int32


class WorkloadPriorityClass(KubeObject):
    """A named priority for queueing and preemption that leaves the pods' priority alone."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["WorkloadPriorityClass"] = "WorkloadPriorityClass"
    value: Int32
    """Priority of workloads that name this class; higher goes first. A change reaches the
    workloads that use the class."""
    description: Annotated[str, Field(max_length=2048)] = Field(default_factory=str)
    """When the class is to be used, in words for its users."""
