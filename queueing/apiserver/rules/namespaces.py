"""Namespaces: a phase, a finalizer of their own, and a label with their name."""

from queueing.apiserver.tree import Object, metadata, with_value

NAME_LABEL = "kubernetes.io/metadata.name"


def created(obj: Object) -> Object:
    """Return a namespace as it is born: active, and labelled with its name."""
    named = _labelled(obj)
    return {**named, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def kept(old: Object, new: Object) -> Object:
    """Return an update that touches neither finalizers of the spec nor the name label."""
    return {**_labelled(new), "spec": old.get("spec", {})}


def _labelled(obj: Object) -> Object:
    labels = {**(metadata(obj).get("labels") or {}), NAME_LABEL: metadata(obj).get("name", "")}
    return with_value(obj, ("metadata", "labels"), labels)
