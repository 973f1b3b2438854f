"""ComputeDomains of NVIDIA's DRA driver: pods on several nodes that share memory over NVLink.

The driver creates the claim template of a domain's channel some time after the domain, and pods
that name it wait for it. So a domain is created before its Job starts, as templates are.
"""

from typing import Any, Final

from queueing.devices.wire.names import digest, object_name
from queueing.devices.wire.objects import ComputeDomainTerms

API_VERSION: Final = "resource.nvidia.com/v1beta1"
KIND: Final = "ComputeDomain"


def domain_name(terms: ComputeDomainTerms, job: str, pod_set: str, *made_for: str) -> str:
    """Name a domain, and the template of its channel, by all that it is made from."""
    plan = digest(KIND, pod_set, terms.nodes, terms.channels, *made_for)
    return object_name(job, pod_set, plan)


def domain_spec(terms: ComputeDomainTerms, name: str, pods: int) -> dict[str, Any]:
    """Return the spec of a domain for so many pods, each on a node of its own."""
    channel: dict[str, Any] = {"resourceClaimTemplate": {"name": name}}
    if terms.channels == "All":
        channel["allocationMode"] = "All"
    return {"numNodes": pods if terms.nodes == "Pods" else 0, "channel": channel}
