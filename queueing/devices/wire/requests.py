"""What a pod requests of devices, in one form for claims of ours and of users.

Requests, the alternative ways to satisfy each, and constraints between them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.selectors import Toleration
from queueing.devices.wire import objects as wire
from queueing.translate.wire import pods
from queueing_api.quantity import parse

DEVICES_MAX = 32
"""Devices that one claim can be given."""
CONSUMERS_MAX = 256
"""Pods that can use one claim at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to satisfy a request: the request itself, or one of its `firstAvailable`."""

    device_class: str
    name: str = ""
    """Name of the subrequest; empty when it is the only way."""
    selectors: tuple[str, ...] = ()
    count: int = 1
    """Devices; 0 stands for all that match."""
    capacity: Mapping[str, int] = field(default_factory=dict)
    """Billionths of a shared device's capacities, by name."""
    tolerations: tuple[Toleration, ...] = ()
    admin: bool = False
    """Whether it asks for admin access, which is not charged and takes no device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A named request; its ways stand in order of preference."""

    name: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What devices must have in common, or with `distinct` must not; no names mean all requests."""

    attribute: str
    requests: tuple[str, ...] = ()
    distinct: bool = False

    def concerns(self, request: str) -> bool:
        """Say whether it is about a request, be it one of its ways."""
        return not self.requests or any(one.partition("/")[0] == request for one in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The requests of one claim, which are allocated together."""

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def device_count(self) -> int:
        """Return how many devices it takes at most."""
        return sum(max(one.count for one in request.ways) for request in self.requests)


def claim_of(spec: wire.ResourceClaimSpec) -> Claim:
    """Read the spec of a claim or template."""
    devices = spec.devices
    return Claim(
        requests=tuple(
            Request(name=one.name, ways=tuple(map(_way, one.first_available or _only(one))))
            for one in devices.requests
        ),
        constraints=tuple(
            Constraint(
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
        tolerations=tuple(map(_toleration, found.tolerations)),
        admin=found.admin_access,
    )


def _toleration(found: pods.Toleration) -> Toleration:
    return Toleration(
        key=found.key,
        operator=found.operator or "Equal",
        value=found.value,
        effect=found.effect,
        toleration_seconds=found.toleration_seconds,
    )
