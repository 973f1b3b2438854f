"""The kinds of `core/v1` that we read, under one name."""

from queueing_api.core.cluster import LimitRange, Namespace, Node
from queueing_api.core.pod import (
    Container,
    Pod,
    PodSpec,
    PodTemplateSpec,
    ResourceRequirements,
    Taint,
    Toleration,
)

__all__ = [
    "Container",
    "LimitRange",
    "Namespace",
    "Node",
    "Pod",
    "PodSpec",
    "PodTemplateSpec",
    "ResourceRequirements",
    "Taint",
    "Toleration",
]
