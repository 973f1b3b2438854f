"""NVIDIA's ComputeDomains, as far as a start depends on them: their kind, and who fills them."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from e2e.api import Api, holds
from e2e.serving import until
from e2e.wire import ApiError, Object
from e2e.world import World

CHANNELS = "compute-domain.nvidia.com"
IS_CHANNEL = f"device.driver == '{CHANNELS}'"
NAME = "computedomains.resource.nvidia.com"


def definition() -> Object:
    """Return the definition of ComputeDomains with what of it matters here."""
    name = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    channel = {
        "type": "object",
        "required": ["resourceClaimTemplate"],
        "properties": {
            "resourceClaimTemplate": name,
            "allocationMode": {"type": "string", "enum": ["All", "Single"], "default": "Single"},
        },
    }
    spec = {
        "type": "object",
        "required": ["numNodes", "channel"],
        "properties": {"numNodes": {"type": "integer"}, "channel": channel},
        "x-kubernetes-validations": [
            {"rule": "self == oldSelf", "message": "A computeDomain.spec is immutable"}
        ],
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "resource.nvidia.com",
            "scope": "Namespaced",
            "names": {
                "plural": "computedomains",
                "singular": "computedomain",
                "kind": "ComputeDomain",
                "listKind": "ComputeDomainList",
            },
            "versions": [version],
        },
    }


def channel_slice(node: str) -> Object:
    """Return the slice with the channels of a node."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-channels"},
        "spec": {
            "driver": CHANNELS,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"channel-{number}"} for number in range(4)],
        },
    }


def fill(space: World, domain: Object) -> Object:
    """Do as the driver's controller: make the template by which pods enter a domain.

    The driver would delete it with its domain; here the test does.
    """
    name = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
    request = {"name": "channel", "exactly": {"deviceClassName": space.name("channel")}}
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    return space.api.create(made)


@contextmanager
def installed(api: Api) -> Iterator[None]:
    """Have the kind on the server for a while."""
    api.create(definition())
    try:
        api.wait_one("CustomResourceDefinition", NAME, lambda one: holds(one, "Established"))
        until(lambda: _is_served(api), "the kind is served")
        yield
    finally:
        api.delete("CustomResourceDefinition", NAME)
        api.wait_gone("CustomResourceDefinition", NAME)


def _is_served(api: Api) -> bool:
    try:
        api.items("ComputeDomain", "default")
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True
