"""The shapes of built-in kinds, as far as people ask for them with `kubectl explain`."""

from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.tree import Object

_TEXTS: Object = {"type": "object", "additionalProperties": {"type": "string"}}
_OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

OBJECT_META: Object = {
    "type": "object",
    "description": "What every stored object has: its name, its labels, and what the "
    "server writes about it.",
    "properties": {
        "annotations": {
            **_TEXTS,
            "description": "Free text for tools, not used to select objects.",
        },
        "creationTimestamp": {
            "type": "string",
            "format": "date-time",
            "description": "When the server stored the object first.",
        },
        "deletionTimestamp": {
            "type": "string",
            "format": "date-time",
            "description": "When the object is to be gone; set by a deletion.",
        },
        "finalizers": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Who must agree before the object goes.",
        },
        "generateName": {
            "type": "string",
            "description": "A prefix from which the server makes a unique name.",
        },
        "generation": {
            "type": "integer",
            "description": "Grows whenever the desired state changes.",
        },
        "labels": {**_TEXTS, "description": "Words by which objects are selected."},
        "managedFields": {"type": "array", "items": _OPEN, "description": "Who owns which field."},
        "name": {"type": "string", "description": "The name, unique per kind and namespace."},
        "namespace": {
            "type": "string",
            "description": "The namespace in which the name is unique.",
        },
        "ownerReferences": {
            "type": "array",
            "items": _OPEN,
            "description": "Objects with which this one goes.",
        },
        "resourceVersion": {
            "type": "string",
            "description": "Changes with every write; opaque to clients.",
        },
        "uid": {"type": "string", "description": "Unique in time and space."},
    },
}


def kind_schema(resource: Resource) -> Object:
    """Return the outline of a built-in kind: a spec and a status that are open."""
    properties: Object = {
        "spec": {**_OPEN, "description": f"The desired state of the {resource.kind}."}
    }
    if resource.stored.has_status:
        properties["status"] = {
            **_OPEN,
            "description": f"The observed state of the {resource.kind}.",
        }
    return {
        "type": "object",
        "description": f"{resource.kind} as Kubernetes defines it.",
        "properties": properties,
    }
