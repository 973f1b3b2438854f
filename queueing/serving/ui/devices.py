"""Devices as ResourceSlices publish them, and the claims that hold them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Wire = Mapping[str, Any]
HIDDEN = "a claim that you may not read"


@dataclass(frozen=True, slots=True)
class DeviceHolders:
    """One device, and who holds it; empty if nobody does."""

    name: str
    holders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """The devices of one driver on one node."""

    node: str
    driver: str
    devices: tuple[DeviceHolders, ...]

    @property
    def free(self) -> int:
        """How many of them nobody holds."""
        return sum(not one.holders for one in self.devices)


def by_node(slices: Iterable[Wire], claims: Iterable[Wire], *, named: bool) -> list[NodeDevices]:
    """Return the devices by node and driver; holders are named only where that is allowed.

    Of a pool only the slices of its newest generation count.
    """
    held = _holders(claims, named=named)
    specs = [one["spec"] for one in slices]
    newest: dict[tuple[str, str], int] = {}
    for one in specs:
        key = one["driver"], one["pool"]["name"]
        newest[key] = max(newest.get(key, 0), one["pool"].get("generation", 0))
    found: dict[tuple[str, str], list[DeviceHolders]] = {}
    for one in specs:
        driver, pool = one["driver"], one["pool"]["name"]
        if one["pool"].get("generation", 0) < newest[driver, pool]:
            continue
        for device in one.get("devices") or ():
            node = one.get("nodeName") or device.get("nodeName") or f"pool {pool}"
            holders = tuple(held.get((driver, pool, device["name"]), ()))
            found.setdefault((node, driver), []).append(DeviceHolders(device["name"], holders))
    return [
        NodeDevices(node, driver, tuple(sorted(ones, key=lambda one: _natural(one.name))))
        for (node, driver), ones in sorted(found.items())
    ]


def _holders(claims: Iterable[Wire], *, named: bool) -> dict[tuple[str, str, str], list[str]]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for claim in claims:
        meta = claim["metadata"]
        who = f"{meta['namespace']}/{meta['name']}" if named else HIDDEN
        allocation = (claim.get("status") or {}).get("allocation") or {}
        for one in (allocation.get("devices") or {}).get("results") or ():
            found.setdefault((one["driver"], one["pool"], one["device"]), []).append(who)
    return found


def _natural(name: str) -> tuple[str, int]:
    """Sort gpu-2 before gpu-10."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0)
