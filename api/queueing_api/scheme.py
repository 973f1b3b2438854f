"""Which model reads which object: (group, version, kind) to class and back."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from queueing_api.batch.v1 import Job
from queueing_api.core.cluster import LimitRange, Namespace, Node, PriorityClass, RuntimeClass
from queueing_api.core.pod import Pod
from queueing_api.kueue import v1beta1, v1beta2
from queueing_api.meta.v1 import KubeObject
from queueing_api.queueing import v1alpha1
from queueing_api.resource.v1 import (
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)

GroupVersionKind = tuple[str, str, str]

_KUBERNETES: Final[tuple[type[KubeObject], ...]] = (
    DeviceClass,
    Job,
    LimitRange,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    RuntimeClass,
)
_QUEUEING: Final[tuple[type[KubeObject], ...]] = tuple(
    getattr(version, kind) for version in (v1alpha1, v1beta1, v1beta2) for kind in version.__all__
)

SCHEME: Final[Mapping[GroupVersionKind, type[KubeObject]]] = MappingProxyType(
    {model.gvk(): model for model in (*_KUBERNETES, *_QUEUEING)}
)


class UnknownKindError(LookupError):
    """An object of a kind, or a version of it, that no model reads."""


def gvk_of(document: Mapping[str, Any]) -> GroupVersionKind:
    """Return group, version and kind of an object; what is missing is empty."""
    group, _, version = str(document.get("apiVersion", "")).rpartition("/")
    return group, version, str(document.get("kind", ""))


def decode(document: Mapping[str, Any]) -> KubeObject:
    """Read an object with the model of its kind.

    Raises UnknownKindError for kinds without a model, pydantic's ValidationError for bad fields.
    """
    group, version, kind = gvk_of(document)
    model = SCHEME.get((group, version, kind))
    if model is None:
        api_version = f"{group}/{version}" if group else version
        raise UnknownKindError(f"no model reads kind {kind!r} of apiVersion {api_version!r}")
    return model.from_wire(dict(document))
