"""Pods of admitted Jobs whose devices come by resource claims: what is changed at their creation.

A suspended Job can never be given `resourceClaims`, so its template only carries a label, the name
of the ResourceClaimTemplate and the resources that it stands for; each pod is rewritten when it is
created. The scheduling gate in the template is the safety: a pod that nobody rewrote never runs on
a device that was not accounted for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from queueing.translate.devices import names
from queueing.translate.devices.containers import SIDECAR, InitAsk, uses
from queueing.webhooks.findings import Wire, dig, entries

INJECT: Final = names.INJECT
RESOURCES: Final = names.INJECT_RESOURCE
TEMPLATE: Final = names.INJECT_TEMPLATE
CHANNEL: Final = names.CHANNEL
SHARED: Final = names.INJECT_CLAIM
GATE: Final = names.GATE
SLOTS: Final = names.INJECTED_MAX
INIT: Final = "initContainers"
CLAIM: Final = "kq-dra"
"""Name of the first claim within the pod; the next is `kq-dra-1`."""
CHANNEL_CLAIM: Final = "kq-channel"
"""Name of the claim by which a pod enters its ComputeDomain."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One resource, and the claim that stands for it."""

    number: int
    resource: str
    template: str
    shared: str

    @property
    def name(self) -> str:
        """Name of the claim within the pod."""
        return f"{CLAIM}-{self.number}" if self.number else CLAIM

    def claim(self) -> Wire:
        """Return the entry of the pod's `resourceClaims`."""
        if self.template:
            return {"name": self.name, "resourceClaimTemplateName": self.template}
        return {"name": self.name, "resourceClaimName": self.shared}


def slots_of(annotations: Wire) -> Iterator[Slot]:
    """Yield what the annotations of a pod say of its claims."""
    templates, shared = (annotations.get(one, "").split(",") for one in (TEMPLATE, SHARED))
    for number, resource in enumerate(annotations[RESOURCES].split(",")[:SLOTS]):
        yield Slot(number, resource, _at(templates, number), _at(shared, number))


def _at(texts: Sequence[str], number: int) -> str:
    return texts[number] if number < len(texts) else ""


def inject_claims(pod: Wire) -> Wire:
    """Return the pod as it is created: claims in place of the resources that they stand for.

    Which request of a claim each container uses is said by `translate.devices.containers`.
    """
    labels, annotations = dig(pod, "metadata", "labels"), dig(pod, "metadata", "annotations") or {}
    named = RESOURCES in annotations and (TEMPLATE in annotations or SHARED in annotations)
    taken = any(one.get("name") == CLAIM for one in entries(pod, "spec", "resourceClaims"))
    if INJECT not in (labels or {}) or not named or taken:
        return pod
    slots = tuple(slots_of(annotations))
    spec: dict[str, Any] = dict(pod["spec"])
    template = annotations.get(CHANNEL)
    channel = [{"name": CHANNEL_CLAIM}] if template else []
    for part, used in _uses(pod, slots).items():
        spec[part] = [
            _claimed(one, slots, used.get(at, {}), channel) for at, one in enumerate(spec[part])
        ]
    own = entries(pod, "spec", "resourceClaims")
    entered = [{**one, "resourceClaimTemplateName": template} for one in channel]
    spec["resourceClaims"] = [*own, *entered, *(one.claim() for one in slots)]
    spec["schedulingGates"] = [
        gate for gate in entries(pod, "spec", "schedulingGates") if gate.get("name") != GATE
    ]
    if not spec["schedulingGates"]:
        del spec["schedulingGates"]
    return {**pod, "spec": spec}


def _uses(pod: Wire, slots: Sequence[Slot]) -> dict[str, dict[int, dict[str, str]]]:
    """Return the requests that containers use: list of the pod's spec → position → resource."""
    found: dict[str, dict[int, dict[str, str]]] = {}
    for resource in dict.fromkeys(one.resource for one in slots):
        counts = _amounts(pod, "containers", resource)
        inits = {
            at: InitAsk(amount, entries(pod, "spec", INIT)[at].get("restartPolicy") == SIDECAR)
            for at, amount in _amounts(pod, INIT, resource).items()
        }
        own = {at: f"c{at}" for at in counts}
        for part, used in (("containers", own), (INIT, uses(counts, inits))):
            for at, request in used.items():
                found.setdefault(part, {}).setdefault(at, {})[resource] = request
    return found


def _amounts(pod: Wire, part: str, resource: str) -> dict[int, str]:
    """Return how much is asked for, as it is spelt, by position; who asks for none is left out."""
    asked = (dig(one, "resources", "requests", resource) for one in entries(pod, "spec", part))
    return {at: str(one) for at, one in enumerate(asked) if one not in (None, "0", 0)}


def _claimed(
    container: Wire, slots: Sequence[Slot], used: Mapping[str, str], channel: Sequence[Wire]
) -> Wire:
    """Swap the resources of one container for the requests that it uses, and the channel."""
    mine = [one for one in slots if one.resource in used]
    if not mine:
        return container
    asked = dict(container["resources"])
    for where in ("requests", "limits"):
        if where in asked:
            asked[where] = {k: v for k, v in asked[where].items() if k not in used}
    claims = [{"name": one.name, "request": used[one.resource]} for one in mine]
    asked["claims"] = [*(asked.get("claims") or []), *channel, *claims]
    return {**container, "resources": asked}
