"""Small kinds: their defaults and checks, and what is special about namespaces."""

import base64
from collections.abc import Iterator

from queueing.apiserver.failures import StatusCause, forbidden_value
from queueing.apiserver.tree import Object, dig, metadata, with_value, without

NAME_LABEL = "kubernetes.io/metadata.name"


def namespace_created(obj: Object) -> Object:
    """Return a namespace as it is born: active, and labelled with its name."""
    named = _labelled(obj)
    return {**named, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def namespace_updated(old: Object, new: Object) -> Object:
    """Return an update that touches neither finalizers of the spec nor the name label."""
    return {**_labelled(new), "spec": old.get("spec", {})}


def _labelled(obj: Object) -> Object:
    labels = {**(metadata(obj).get("labels") or {}), NAME_LABEL: metadata(obj).get("name", "")}
    return with_value(obj, ("metadata", "labels"), labels)


def secret_defaulted(obj: Object) -> Object:
    """Return the secret with `stringData` folded into `data`, and a type."""
    plain = obj.get("stringData") or {}
    data = {name: base64.b64encode(str(text).encode()).decode() for name, text in plain.items()}
    made = without(obj, ("stringData",))
    if data:
        made = {**made, "data": {**(obj.get("data") or {}), **data}}
    return {**made, "type": obj.get("type") or "Opaque"}


def service_defaulted(obj: Object) -> Object:
    """Return the service with its type and its ports filled in."""
    spec = obj.get("spec") or {}
    ports = [
        {"protocol": "TCP", "targetPort": port.get("port"), **port}
        for port in spec.get("ports") or ()
    ]
    filled = {"type": "ClusterIP", "sessionAffinity": "None", **spec}
    return {**obj, "spec": {**filled, "ports": ports} if ports else filled}


def node_defaulted(obj: Object) -> Object:
    """Return the node with `allocatable` taken from `capacity` where it is missing."""
    capacity = dig(obj, "status", "capacity")
    made = {**obj, "spec": obj.get("spec") or {}}
    if capacity and not dig(obj, "status", "allocatable"):
        return with_value(made, ("status", "allocatable"), capacity)
    return made


def priority_class_defaulted(obj: Object) -> Object:
    """Return the class with its defaults."""
    return {"preemptionPolicy": "PreemptLowerPriority", "value": 0, **obj}


def priority_class_violations(obj: Object, old: Object | None) -> Iterator[StatusCause]:
    """Yield what may not change in a class."""
    for name in ("value", "preemptionPolicy"):
        if old is not None and obj.get(name) != old.get(name):
            yield forbidden_value(name, "may not be changed in an update.")
