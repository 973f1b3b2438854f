"""A pod that is created → the same pod with its claim, as JSON patch operations.

What the injection policy of `config/dra` says in CEL; a webhook calls it where the API server has
no such policies. Applied to its own result it changes nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from queueing.translate.devices.names import (
    GATE,
    INJECT,
    INJECT_CLAIM,
    INJECT_RESOURCE,
    INJECT_TEMPLATE,
    POD_CLAIM,
)

Operation = dict[str, Any]


def inject_pod(pod: Mapping[str, Any]) -> list[Operation]:
    """Return what gives a pod its claim; nothing for pods without our label, or that have it.

    The resource that the claim stands for goes from every container, the container uses the
    request made for it, and the gate that kept the pod from running opens.
    """
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    if INJECT not in (metadata.get("labels") or {}):
        return []
    annotations = metadata.get("annotations") or {}
    resource = annotations.get(INJECT_RESOURCE)
    claims = spec.get("resourceClaims") or []
    if not resource or any(one.get("name") == POD_CLAIM for one in claims):
        return []
    return [
        *_declared(claims, annotations),
        *(
            operation
            for position, container in enumerate(spec.get("containers") or [])
            for operation in _used(container, position, resource)
        ),
        *_opened(spec.get("schedulingGates") or []),
    ]


def _declared(claims: list[Any], annotations: Mapping[str, str]) -> Iterator[Operation]:
    claim: dict[str, str] = {"name": POD_CLAIM}
    if INJECT_CLAIM in annotations:
        claim["resourceClaimName"] = annotations[INJECT_CLAIM]
    else:
        claim["resourceClaimTemplateName"] = annotations.get(INJECT_TEMPLATE, "")
    path = "/spec/resourceClaims"
    yield (
        {"op": "add", "path": f"{path}/-", "value": claim}
        if claims
        else {
            "op": "add",
            "path": path,
            "value": [claim],
        }
    )


def _used(container: Mapping[str, Any], position: int, resource: str) -> Iterator[Operation]:
    resources = container.get("resources") or {}
    path = f"/spec/containers/{position}/resources"
    key = resource.replace("~", "~0").replace("/", "~1")
    listed = [part for part in ("requests", "limits") if resource in (resources.get(part) or {})]
    if not listed:
        return
    for part in listed:
        yield {"op": "remove", "path": f"{path}/{part}/{key}"}
    use = {"name": POD_CLAIM, "request": f"c{position}"}
    if resources.get("claims"):
        yield {"op": "add", "path": f"{path}/claims/-", "value": use}
    else:
        yield {"op": "add", "path": f"{path}/claims", "value": [use]}


def _opened(gates: list[Any]) -> Iterator[Operation]:
    for position, gate in enumerate(gates):
        if gate.get("name") == GATE:
            yield {"op": "remove", "path": f"/spec/schedulingGates/{position}"}
            return
