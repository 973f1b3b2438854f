"""What users read about devices: reasons and sentences, all of them."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.translate.devices.index import DeviceName


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
class Refusal:
    """Why devices cannot be had."""

    reason: DeviceReason
    text: str


def class_not_found(name: str) -> Refusal:
    """Say that a DeviceClass is missing."""
    return Refusal(DeviceReason.CLASS_NOT_FOUND, f"DeviceClass {name} is not installed")


def invalid(expression: str, why: str) -> Refusal:
    """Say that the API server would refuse an expression."""
    return Refusal(DeviceReason.INVALID, f"selector {expression!r}: {why}")


def aborts(device: DeviceName, why: str, missing: str = "") -> Refusal:
    """Say that the scheduler would give up at a device."""
    where = f"{device.device} (driver {device.driver}, pool {device.pool})"
    if not missing:
        return Refusal(DeviceReason.WOULD_ABORT, f"a selector fails on {where}: {why}")
    told = f"attribute {missing} is missing on {where}; guard with '{missing}' in ..."
    return Refusal(DeviceReason.WOULD_ABORT, told)


def too_few(found: int, wanted: int, where: str, tainted: tuple[str, ...] = ()) -> Refusal:
    """Say that fewer devices match than are asked for, and that taints keep others away."""
    told = f"{found} of {wanted} device(s) match {where}"
    if tainted:
        told += f"; {len(tainted)} more would, but for taints ({', '.join(sorted(set(tainted)))})"
    return Refusal(DeviceReason.NO_MATCH, told)


def too_small(names: tuple[str, ...]) -> Refusal:
    """Say that no device has enough of a capacity."""
    return Refusal(DeviceReason.NO_MATCH, f"no device has enough {', '.join(names)}")


def apart(attribute: str) -> Refusal:
    """Say that enough devices match, but not with one value of an attribute."""
    return Refusal(DeviceReason.NO_MATCH, f"not enough devices of one node share {attribute}")


def unsupported(what: str) -> Refusal:
    """Say that a request is beyond a limit."""
    return Refusal(DeviceReason.UNSUPPORTED, what)
