"""What a pod requests of devices, in one form for claims of ours and of users.

Requests, the alternative ways to satisfy each, and constraints between them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.selectors import Toleration

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
class DeviceRequest:
    """A named request; its ways stand in order of preference."""

    name: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConstraint:
    """What devices must have in common, or with `distinct` must not; no names mean all requests."""

    attribute: str
    requests: tuple[str, ...] = ()
    distinct: bool = False

    def concerns(self, request: str) -> bool:
        """Say whether it is about a request, be it one of its ways."""
        return not self.requests or any(one.partition("/")[0] == request for one in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClaim:
    """The requests of one claim, which are allocated together."""

    requests: tuple[DeviceRequest, ...]
    constraints: tuple[DeviceConstraint, ...] = ()

    @property
    def device_count(self) -> int:
        """Return how many devices it takes at most."""
        return sum(max(one.count for one in request.ways) for request in self.requests)
