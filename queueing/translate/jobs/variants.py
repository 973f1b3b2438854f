"""Variants as objects: the Workloads of one parent, each with the annotation of its one flavor.

Those that name a Job as theirs, or belong to a gang or a group, are told by marks that only the
parent has: its variants do not inherit them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from queueing.core.names import FlavorName, Uid
from queueing.core.variants import Variant
from queueing.translate import labels
from queueing.translate.jobs.composition import API_VERSION, owner_reference, workload_name
from queueing.translate.wire.meta import Meta, OwnerReference, Wire
from queueing.translate.wire.workloads import (
    Admission,
    PriorityClassRef,
    Workload,
    WorkloadSpec,
)

_OF_THE_PARENT = frozenset(
    {
        labels.VARIANT_PARENT,
        labels.JOB_OWNER_GVK,
        labels.JOB_OWNER_NAME,
        labels.GANG,
        labels.GANG_ON_FAILURE,
        labels.IS_GROUP_WORKLOAD,
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)
_OF_A_NAME = re.compile(r"-[0-9a-f]{5}$")
"""The dash and the digits at the end of the name of a Workload that was made for a job."""
_DIGITS = 6
_NAME_MAX = 253
FOLLOWED = (
    "pod_sets",
    "queue_name",
    "priority",
    "priority_class_ref",
    "maximum_execution_time_seconds",
)
"""Fields of the spec that a variant has of its parent for as long as it holds no quota."""
_AS_STORED = {one.name: one.encode_name for one in msgspec.structs.fields(WorkloadSpec)}
"""Fields of a spec, as they are called in what is stored."""
FOLLOWED_MARKS = (labels.ADMISSION_GATED_BY, labels.PRIORITY_BOOST)
"""Annotations that it always has of its parent."""


class _Stored(Wire, frozen=True):
    """A Workload as it is stored, its spec in full."""

    metadata: Meta
    spec: dict[str, Any]


def has_variants(meta: Meta) -> bool:
    """Say whether a Workload is admitted through variants."""
    return meta.labels.get(labels.VARIANT_PARENT) == "true"


def parent_of(meta: Meta) -> OwnerReference | None:
    """Return the Workload that controls this one, its parent; None for all but variants."""
    above = meta.controller
    is_ours = above is not None and (above.api_version, above.kind) == (API_VERSION, "Workload")
    return above if is_ours and labels.ALLOWED_FLAVORS in meta.annotations else None


def variant_of(meta: Meta) -> Variant | None:
    """Return what makes a Workload a variant; None for all others."""
    parent = parent_of(meta)
    if parent is None:
        return None
    flavor = FlavorName(meta.annotations[labels.ALLOWED_FLAVORS].strip())
    return Variant(parent=Uid(parent.uid), flavor=flavor)


def allowed_flavors(meta: Meta) -> frozenset[FlavorName]:
    """Return the flavors that the annotation of a Workload names."""
    named = meta.annotations.get(labels.ALLOWED_FLAVORS, "").split(",")
    return frozenset(FlavorName(one.strip()) for one in named if one.strip())


def variant_name(parent: Meta, flavor: str) -> str:
    """Return `<parent>-variant-<flavor>-<5 hex digits>`, cut so that the digits fit."""
    digits = workload_name("Workload", labels.GROUP, parent, flavor)[1 - _DIGITS :]
    base = f"{_OF_A_NAME.sub('', parent.name)}-variant-{flavor}"
    return f"{base[: _NAME_MAX - _DIGITS]}-{digits}"


def composed_variant(parent: bytes, flavor: str) -> tuple[str, bytes]:
    """Return the name of a parent's variant, and the Workload to create; `parent` is as stored."""
    found = msgspec.json.decode(parent, type=_Stored)
    meta = found.metadata
    name = variant_name(meta, flavor)
    own = {
        "name": name,
        "namespace": meta.namespace,
        "labels": _inherited(meta.labels),
        "annotations": {**_inherited(meta.annotations), labels.ALLOWED_FLAVORS: flavor},
        "finalizers": [labels.RESOURCE_IN_USE],
        "ownerReferences": [owner_reference(API_VERSION, "Workload", meta)],
    }
    gates = [*found.spec.get("preemptionGates", ()), {"name": labels.VARIANT_GATE}]
    body = {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "metadata": own,
        "spec": {**found.spec, "preemptionGates": gates},
    }
    return name, msgspec.json.encode(body)


def runs_by(parent: Workload, variant: Workload) -> bool:
    """Say whether a parent was given the admission of a variant; its places may have changed."""
    held = [one.status.admission for one in (parent, variant)]
    first, second = (None if one is None else _without_places(one) for one in held)
    return first is not None and first == second


def _without_places(held: Admission) -> tuple[object, ...]:
    pod_sets = [(one.name, one.flavors, one.count) for one in held.pod_set_assignments]
    return held.cluster_queue, pod_sets


def follows_parent(variant: Workload, parent: Workload) -> bool:
    """Say whether a variant asks for what its parent does."""
    mine, theirs = variant.spec, parent.spec
    names = _followed_fields(variant, theirs.priority_class_ref)
    same_fields = all(getattr(mine, name) == getattr(theirs, name) for name in names)
    own, given = variant.metadata.annotations, parent.metadata.annotations
    return same_fields and all(own.get(name) == given.get(name) for name in FOLLOWED_MARKS)


def followed(variant: Workload, parent: bytes) -> dict[str, Any]:
    """Return what a variant gets anew of its parent, which is as stored."""
    found = msgspec.json.decode(parent, type=_Stored)
    theirs = msgspec.convert(found.spec.get("priorityClassRef"), PriorityClassRef | None)
    names = [_AS_STORED[name] for name in _followed_fields(variant, theirs)]
    marks = {name: found.metadata.annotations.get(name) for name in FOLLOWED_MARKS}
    spec = {name: found.spec.get(name) for name in names}
    return {"metadata": {"annotations": marks}, "spec": spec}


def _followed_fields(variant: Workload, theirs: PriorityClassRef | None) -> Sequence[str]:
    """Return which fields a variant follows now, by the priority class of its parent.

    What holds quota changes only its priority, and the API lets it have another class only where
    both are WorkloadPriorityClasses.
    """
    if not variant.status.is_true("QuotaReserved"):
        return FOLLOWED
    mine = variant.spec.priority_class_ref
    kinds = [None if one is None else one.kind for one in (mine, theirs)]
    both = kinds == ["WorkloadPriorityClass", "WorkloadPriorityClass"]
    return ("priority", "priority_class_ref") if both else ("priority",)


def _inherited(marks: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in marks.items() if key not in _OF_THE_PARENT}
