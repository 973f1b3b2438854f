"""How many devices are free for requests of one kind, beside what claims hold of them."""

from collections.abc import Iterable, Mapping

from queueing.devices.rules.index import Device, DeviceName
from queueing.devices.rules.packing import PODS_MAX
from queueing.devices.rules.requests import Way

Taken = Mapping[DeviceName, Mapping[str, int]]
"""Devices that claims hold, and what these take of the capacities of shared ones, in billionths."""
Counters = dict[tuple[str, str], int]
"""What is left of shared counters, by set and counter, in billionths."""


def counters_left(
    published: Mapping[str, Mapping[str, int]], devices: Iterable[Device], taken: Taken
) -> Counters:
    """Return what claims leave of a pool's counters."""
    left = {(of, one): size for of, sizes in published.items() for one, size in sizes.items()}
    for device in devices:
        if device.name in taken:
            for of, one, size in device.counters:
                left[of, one] = left.get((of, one), 0) - size
    return left


def free_count(devices: Iterable[Device], way: Way, taken: Taken, left: Counters) -> int:
    """Return how many requests for one device can be met at once, by devices of one pool.

    A shared device counts as often as its capacities hold what a request takes of them, and for
    all pods if it has none. Devices that share counters count as long as these last, in order;
    only the first use of a shared one draws from them. `left` is changed.
    """
    free = 0
    for device in devices:
        held = device.name in taken
        times = _times(device, way, taken.get(device.name, {})) if device.shared else int(not held)
        if times and (held or _draw(device, left)):
            free += times
    return free


def _times(device: Device, way: Way, taken: Mapping[str, int]) -> int:
    times = None
    for name, capacity in device.capacity.items():
        each = capacity.consumed(way.capacity.get(name))
        if each:
            fitting = max(0, capacity.value - taken.get(name, 0)) // each
            times = fitting if times is None else min(times, fitting)
    return PODS_MAX if times is None else times


def _draw(device: Device, left: Counters) -> bool:
    """Take what a device draws from its counters, if there is enough."""
    if any(left.get((of, one), 0) < size for of, one, size in device.counters):
        return False
    for of, one, size in device.counters:
        left[of, one] -= size
    return True
