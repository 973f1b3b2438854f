"""The spec of a ResourceClaim or template → what it requests."""

from queueing.devices.rules.requests import DeviceClaim, DeviceConstraint, DeviceRequest, Way
from queueing.devices.wire import objects as wire
from queueing.translate.selectors import toleration
from queueing_api.quantity import parse


def claim_of(spec: wire.ResourceClaimSpec) -> DeviceClaim:
    """Read the spec of a claim or template."""
    devices = spec.devices
    return DeviceClaim(
        requests=tuple(
            DeviceRequest(name=one.name, ways=tuple(map(_way, one.first_available or _only(one))))
            for one in devices.requests
        ),
        constraints=tuple(
            DeviceConstraint(
                attribute=one.match_attribute or one.distinct_attribute,
                requests=tuple(one.requests),
                distinct=bool(one.distinct_attribute),
            )
            for one in devices.constraints
        ),
    )


def _only(request: wire.DeviceRequest) -> list[wire.SubRequest]:
    return [request.exactly] if request.exactly is not None else []


def _way(found: wire.SubRequest) -> Way:
    asked = found.capacity.requests if found.capacity else {}
    return Way(
        name=found.name,
        device_class=found.device_class_name,
        selectors=tuple(one.cel.expression for one in found.selectors),
        count=0 if found.allocation_mode == "All" else found.count,
        capacity={name: parse(asked[name]).nano for name in sorted(asked)},
        tolerations=tuple(map(toleration, found.tolerations)),
        admin=found.admin_access,
    )
