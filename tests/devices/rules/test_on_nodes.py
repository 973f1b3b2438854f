"""How many devices of a pool are free for requests of one kind."""

import pytest

from queueing.devices.rules.index import Capacity, Device, DeviceName
from queueing.devices.rules.on_nodes import Taken, counters_left, free_count
from queueing.devices.rules.packing import PODS_MAX
from queueing.devices.rules.requests import Way

CARD = (("card", "memory", 2),)
FIRST, SECOND = DeviceName("d", "p", "gpu-0"), DeviceName("d", "p", "gpu-1")
PARTS = {"memory": Capacity(value=3, default=1)}


def device(
    name: DeviceName, *, parts: bool = False, counters: tuple[tuple[str, str, int], ...] = ()
) -> Device:
    capacity = PARTS if parts else {}
    return Device(
        name=name, shared=True, variables={}, attributes={}, capacity=capacity, counters=counters
    )


def free(*devices: Device, memory: int, taken: Taken) -> int:
    left = counters_left({"card": {"memory": memory}}, devices, taken)
    return free_count(devices, Way(device_class="gpu"), taken, left)


@pytest.mark.parametrize("taken", [{}, {FIRST: {}}], ids=["free", "in use"])
def test_a_shared_device_without_capacities_serves_all_pods(taken: Taken) -> None:
    assert free(device(FIRST), memory=0, taken=taken) == PODS_MAX


@pytest.mark.parametrize(
    ("memory", "taken", "count"),
    [
        pytest.param(4, {}, 6, id="enough for both"),
        pytest.param(2, {}, 3, id="enough for one"),
        pytest.param(1, {}, 0, id="too little"),
        pytest.param(2, {SECOND: {"memory": 1}}, 2, id="all of it by the one in use"),
        pytest.param(2, {FIRST: {"memory": 3}}, 0, id="all of it by one without room"),
    ],
)
def test_the_first_use_of_a_shared_device_draws_from_its_counters(
    memory: int, taken: Taken, count: int
) -> None:
    both = (device(one, parts=True, counters=CARD) for one in (FIRST, SECOND))
    assert free(*both, memory=memory, taken=taken) == count
