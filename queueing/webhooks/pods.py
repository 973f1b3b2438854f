"""Pods of admitted Jobs whose devices come by resource claims: what is changed at their creation.

A suspended Job can never be given `resourceClaims`, so its template only carries a label, the name
of the ResourceClaimTemplate and the resources that it stands for; each pod is rewritten when it is
created. The scheduling gate in the template is the safety: a pod that nobody rewrote never runs on
a device that was not accounted for.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from queueing.webhooks.findings import Wire, dig, entries

INJECT: Final = "queueing.dev/inject"
"""Label of pods to be rewritten."""
TEMPLATE: Final = "queueing.dev/template"
"""Annotation: the ResourceClaimTemplate that their claim is made of."""
RESOURCES: Final = "queueing.dev/resource"
"""Annotation: the resources that the claim stands for, separated by commas, at most `SLOTS`."""
GATE: Final = "queueing.dev/claims"
"""Scheduling gate of pods that still have to be rewritten."""
CLAIM: Final = "kq-dra"
"""Name of the claim among those of the pod."""
SLOTS: Final = 4
"""How many resources one claim may stand for."""

PARTS: Final[Mapping[str, str]] = {"containers": "c", "initContainers": "i"}
"""Lists of containers, and the letter that begins the names of their requests."""


def request_name(part: str, index: int, slot: int) -> str:
    """Return the name of a container's request for one resource, as the claim template has it.

    `c0` asks for the first resource of the first container, `i2-1` for the second resource of the
    third init container.
    """
    name = f"{PARTS[part]}{index}"
    return f"{name}-{slot}" if slot else name


def inject_claims(pod: Wire) -> Wire:
    """Return the pod as it is created: a claim in place of the resources that it stands for."""
    labels, annotations = dig(pod, "metadata", "labels"), dig(pod, "metadata", "annotations")
    template = (annotations or {}).get(TEMPLATE, "")
    taken = any(one.get("name") == CLAIM for one in entries(pod, "spec", "resourceClaims"))
    if INJECT not in (labels or {}) or not template or taken:
        return pod
    resources = [one for one in annotations.get(RESOURCES, "").split(",") if one][:SLOTS]
    spec: dict[str, Any] = dict(pod["spec"])
    for part in PARTS:
        if spec.get(part):
            spec[part] = [
                _claimed(container, part, index, resources)
                for index, container in enumerate(spec[part])
            ]
    claim = {"name": CLAIM, "resourceClaimTemplateName": template}
    spec["resourceClaims"] = [*entries(pod, "spec", "resourceClaims"), claim]
    spec["schedulingGates"] = [
        gate for gate in entries(pod, "spec", "schedulingGates") if gate.get("name") != GATE
    ]
    if not spec["schedulingGates"]:
        del spec["schedulingGates"]
    return {**pod, "spec": spec}


def _claimed(container: Wire, part: str, index: int, resources: Sequence[str]) -> Wire:
    """Swap the resources of one container for requests of the claim."""
    asked = dict(container.get("resources") or {})
    requests = asked.get("requests") or {}
    slots = [slot for slot, resource in enumerate(resources) if resource in requests]
    if not slots:
        return container
    for where in ("requests", "limits"):
        if where in asked:
            asked[where] = {k: v for k, v in asked[where].items() if k not in resources}
    claims = [{"name": CLAIM, "request": request_name(part, index, slot)} for slot in slots]
    asked["claims"] = [*(asked.get("claims") or []), *claims]
    return {**container, "resources": asked}
