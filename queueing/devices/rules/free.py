"""A text on which devices of a flavor are free by what we know, for users whose pods wait."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from queueing.devices.rules.index import Device, DeviceIndex, DeviceName, Pool
from queueing_api.quantity import Form, ParsedQuantity

NODES_MAX = 3
"""Nodes that are named."""
_ELSEWHERE = "(no single node)"


Left = Mapping[tuple[Pool, str, str], int]
"""What is left of shared counters, by pool, set and counter."""


def free_text(
    devices: Sequence[Device],
    held: Iterable[DeviceName],
    index: DeviceIndex,
    counters: Collection[str],
) -> str:
    """Say how many of some devices are free on each node, and what is left of named counters."""
    taken = frozenset(held)
    left = _left({_pool(one) for one in devices}, taken, index)
    by_node: dict[str, list[Device]] = {}
    for one in devices:
        by_node.setdefault(one.node or _ELSEWHERE, []).append(one)
    told = []
    for node in sorted(by_node)[:NODES_MAX]:
        here = by_node[node]
        free = sum(1 for one in here if _is_free(one, taken, left))
        told.append(f"{free} of {len(here)} on {node}{_counters_text(here, left, counters)}")
    if len(by_node) > NODES_MAX:
        told.append(f"{len(by_node) - NODES_MAX} more node(s)")
    return f"free devices: {', '.join(told)}" if told else "no device of the flavor is published"


def _counters_text(devices: Sequence[Device], left: Left, counters: Collection[str]) -> str:
    pools, sizes = {_pool(one) for one in devices}, dict.fromkeys(sorted(counters), 0)
    for (pool, _, counter), size in left.items():
        if pool in pools and counter in sizes:
            sizes[counter] += size
    shown = [f"{name} {ParsedQuantity(size, Form.BINARY)}" for name, size in sizes.items()]
    return f" ({', '.join(shown)} left)" if shown else ""


def _pool(one: Device) -> Pool:
    return one.name.driver, one.name.pool


def _left(pools: Collection[Pool], taken: frozenset[DeviceName], index: DeviceIndex) -> Left:
    """Work out what is left of the counters of some pools."""
    left = {
        (pool, name, counter): size
        for pool in sorted(pools)
        for name, counters in index.counters.get(pool, {}).items()
        for counter, size in counters.items()
    }
    for one in index.devices:
        if one.name in taken and _pool(one) in pools:
            for name, counter, size in one.counters:
                key = (_pool(one), name, counter)
                left[key] = left.get(key, 0) - size
    return left


def _is_free(one: Device, taken: frozenset[DeviceName], left: Left) -> bool:
    room = all(
        left.get((_pool(one), name, counter), 0) >= size for name, counter, size in one.counters
    )
    return room and (one.shared or one.name not in taken)
