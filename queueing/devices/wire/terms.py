"""What a pod requests of one resource, and how a flavor serves it → the spec of a claim."""

from typing import Any

import msgspec

from queueing.devices.rules.requests import DEVICES_MAX, DeviceClaim
from queueing.devices.wire import objects as wire
from queueing.devices.wire.asks import ResourceRequest
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.objects import FlavoredResource


class UnservedError(ValueError):
    """A flavor cannot serve what a pod requests; the text says why."""


def is_plugins(served: FlavoredResource) -> bool:
    """Say whether a device plugin serves a resource, so that there is no claim of any kind."""
    return served.strategy == "Native" and not served.request.device_class_name


def is_kubernetes(served: FlavoredResource) -> bool:
    """Say whether a resource is left to Kubernetes, so that an admission makes no claim."""
    return served.strategy in ("Native", "Class")


def claims_by_scheduler(served: FlavoredResource) -> bool:
    """Say whether the scheduler makes the claims of a resource."""
    return is_kubernetes(served) and not is_plugins(served)


def check(ask: ResourceRequest, served: FlavoredResource) -> None:
    """Raise UnservedError when the way in which a flavor serves a resource cannot do it."""
    if is_plugins(served):
        _check_plain(ask)
        return
    if ask.units > DEVICES_MAX:
        raise UnservedError(
            f"{ask.units} of {ask.resource}: one claim can be given {DEVICES_MAX} devices"
        )
    if served.strategy == "Slot" and not ask.slot:
        raise UnservedError(f"{ask.resource} is given only to pods that declare a claim for it")
    if ask.uneven and not is_kubernetes(served):
        raise UnservedError(
            f"init container {ask.uneven} asks for another number of {ask.resource} than the"
            " containers do: it can be given devices only when it asks for as many as one of them"
        )
    for name, _ in ask.traits:
        if name not in served.traits:
            offered = ", ".join(sorted(served.traits)) or "none"
            raise UnservedError(f"trait {name} of {ask.resource} is not offered, only {offered}")


def _check_plain(ask: ResourceRequest) -> None:
    if ask.slot:
        raise UnservedError(f"{ask.resource} is a device plugin's: no claim fills slot {ask.slot}")
    for name, _ in ask.traits:
        raise UnservedError(
            f"trait {name} of {ask.resource} is not offered: it is a device plugin's"
        )


def claim_spec(ask: ResourceRequest, served: FlavoredResource) -> dict[str, Any]:
    """Return the spec of the claim that gives one pod its devices.

    One request per container, each for the flavor's class with its selectors and those of the
    traits asked for. Raises UnservedError for what the flavor cannot do.
    """
    check(ask, served)
    selectors = [one.cel.expression for one in served.request.selectors]
    constraints: list[dict[str, Any]] = []
    names = [part.request for part in ask.parts]
    for name, value in ask.traits:
        trait = served.traits[name]
        if trait.selector:
            if "{value}" in trait.selector and not value:
                raise UnservedError(f"trait {name} of {ask.resource} needs a value")
            selectors.append(trait.selector.replace("{value}", value))
        elif trait.match_attribute:
            constraints.append({"requests": names, "matchAttribute": trait.match_attribute})
        else:
            constraints.append({"requests": names, "distinctAttribute": trait.distinct_attribute})
    exactly: dict[str, Any] = {"deviceClassName": served.request.device_class_name}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    if served.request.tolerations:
        exactly["tolerations"] = msgspec.to_builtins(served.request.tolerations)
    if served.request.capacity_per_unit:
        exactly["capacity"] = {"requests": dict(served.request.capacity_per_unit)}
    devices: dict[str, Any] = {
        "requests": [
            {"name": part.request, "exactly": {**exactly, "count": part.count}}
            for part in ask.parts
        ]
    }
    if constraints:
        devices["constraints"] = constraints
    if served.config:
        devices["config"] = [{"opaque": msgspec.to_builtins(one)} for one in served.config]
    return {"devices": devices}


def claim_for(ask: ResourceRequest, served: FlavoredResource) -> DeviceClaim:
    """Return the same claim as matching reads it. Raises UnservedError."""
    return claim_of(msgspec.convert(claim_spec(ask, served), wire.ResourceClaimSpec))
