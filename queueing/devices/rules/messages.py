"""All reasons and messages about devices that users read in conditions and Events."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from queueing.devices.rules.index import DeviceName, Pool
from queueing_api.quantity import Form, ParsedQuantity

QUOTED_MAX = 200
"""Characters of a selector that are quoted; it may have ten thousand."""
POOLS_MAX = 3
"""Pools that are named."""


class DeviceReason(StrEnum):
    """Reasons of conditions and Events about devices."""

    INVALID = "DeviceRequestInvalid"
    CLASS_NOT_FOUND = "DeviceClassNotFound"
    NO_MATCH = "NoMatchingDevices"
    WOULD_ABORT = "SelectorWouldAbort"
    UNSUPPORTED = "UnsupportedDeviceRequest"
    NOT_ALLOCATED = "DevicesNotAllocated"
    NAMESPACE_QUOTA = "NamespaceQuotaExceeded"
    POLICY_MISSING = "InjectionPolicyMissing"
    REMADE = "PodsRemade"
    NAME_CONFLICT = "NameConflict"
    NO_DOMAINS = "ComputeDomainsNotInstalled"


QUOTA_IS_FULL = "exceeded quota"
"""What the API server says when a ResourceQuota keeps a claim or template from being made."""
NO_DOMAINS = (
    "ComputeDomains (resource.nvidia.com/v1beta1) are not served: install NVIDIA's DRA driver, or"
    " take computeDomain out of the DeviceFlavor, and make the Workload active again"
)
REPLACED = (
    "A ResourceClaimTemplate or ResourceClaim that its pods name was replaced by one that asks for"
    " something else"
)
OUTGROWN = (
    "Its claims were given devices that count as more than those before, and the quota that was"
    " released meanwhile is in use"
)


@dataclass(frozen=True, slots=True)
class DeviceRefusal:
    """Why devices cannot be had."""

    reason: DeviceReason
    text: str


def class_not_found(name: str) -> DeviceRefusal:
    """Say that a DeviceClass is missing."""
    return DeviceRefusal(DeviceReason.CLASS_NOT_FOUND, f"DeviceClass {name} is not installed")


def invalid(expression: str, why: str) -> DeviceRefusal:
    """Say that the API server would refuse an expression."""
    return DeviceRefusal(DeviceReason.INVALID, f"selector {expression!r}: {why}")


def aborts(device: DeviceName, why: str, missing: str = "") -> DeviceRefusal:
    """Say that the scheduler would give up at a device."""
    where = f"{device.device} (driver {device.driver}, pool {device.pool})"
    if not missing:
        return DeviceRefusal(DeviceReason.WOULD_ABORT, f"a selector fails on {where}: {why}")
    told = f"attribute {missing} is missing on {where}; guard with '{missing}' in ..."
    return DeviceRefusal(DeviceReason.WOULD_ABORT, told)


def too_few(found: int, wanted: int, where: str, but: Sequence[str] = ()) -> DeviceRefusal:
    """Say that fewer devices match than are asked for, and what keeps others away."""
    told = f"{found} of {wanted} device(s) match {where}"
    return DeviceRefusal(DeviceReason.NO_MATCH, "; ".join((told, *but)))


def but_for_taints(tainted: Sequence[str]) -> str:
    """Say that taints keep devices away; there is a taint's key for each of them."""
    return f"{len(tainted)} more would, but for taints ({', '.join(sorted(set(tainted)))})"


def none_meets(expression: str, looked_at: int) -> str:
    """Say which selector none of some devices meets."""
    quoted = expression if len(expression) <= QUOTED_MAX else f"{expression[:QUOTED_MAX]}..."
    return f"none of {looked_at} meets {quoted}"


def none_published(broken: Sequence[Pool]) -> str:
    """Say that a flavor's nodes have no devices at all; pools that are not whole do not count."""
    told = "no device is published on its nodes"
    if not broken:
        return told
    named = ", ".join(f"{pool} of {driver}" for driver, pool in broken[:POOLS_MAX])
    more = f" and {len(broken) - POOLS_MAX} more" if broken[POOLS_MAX:] else ""
    return f"{told}; not whole, so that none of it counts: pool {named}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityLack:
    """A capacity of which no device has enough; sizes in billionths."""

    capacity: str
    found: int
    """The most that a device has."""
    asked: int

    @property
    def text(self) -> str:
        """Return what there is beside what is asked for."""
        found, asked = (str(ParsedQuantity(one, Form.BINARY)) for one in (self.found, self.asked))
        if self.found >= self.asked:
            return f"{self.capacity} is not given out as {asked}"
        return f"{self.capacity} {found} < {asked}"


def insufficient(device_class: str, found: int, wanted: int) -> str:
    """Say that in the whole cluster fewer devices match than a claim asks for; Kueue's words."""
    return (
        f"insufficient matching devices for CEL selector in DeviceClass {device_class}:"
        f" {found} device(s) match in the cluster but {wanted} requested"
    )


def too_small(lacks: Sequence[CapacityLack]) -> DeviceRefusal:
    """Say that no device has enough of a capacity."""
    return DeviceRefusal(DeviceReason.NO_MATCH, ", ".join(one.text for one in lacks))


def apart(attribute: str) -> DeviceRefusal:
    """Say that enough devices match, but not with one value of an attribute."""
    return DeviceRefusal(DeviceReason.NO_MATCH, f"not enough devices of one node share {attribute}")


def unsupported(what: str) -> DeviceRefusal:
    """Say that a request is beyond a limit."""
    return DeviceRefusal(DeviceReason.UNSUPPORTED, what)
