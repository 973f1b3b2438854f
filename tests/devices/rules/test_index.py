"""ResourceSlices and nodes → devices."""

from typing import Any

import pytest

from queueing.devices.rules.index import Capacity, DeviceIndex
from tests.devices.fleet import DRIVER, gpu, index, node, resource_slice

Wire = dict[str, Any]
GI = 2**30 * 10**9


def names(found: DeviceIndex, **labels: str) -> list[str]:
    return [f"{one.name.pool}/{one.name.device}" for one in found.on(labels)]


def test_devices_are_those_of_the_flavors_nodes_in_their_natural_order() -> None:
    found = index(
        [
            node("a", gpu="h100"),
            node("b", gpu="a100"),
            resource_slice("a", [gpu(10), gpu(2)]),
            resource_slice("b", [gpu(0)]),
            resource_slice("gone", [gpu(0)]),
        ]
    )
    assert names(found, gpu="h100") == ["a/gpu-2", "a/gpu-10"]
    assert names(found) == ["a/gpu-2", "a/gpu-10", "b/gpu-0", "gone/gpu-0"]


@pytest.mark.parametrize(
    ("slices", "want", "incomplete"),
    [
        pytest.param(
            [resource_slice("a", [gpu(0)]), resource_slice("a", [gpu(1)], generation=2)],
            ["a/gpu-1"],
            (),
            id="the newest generation",
        ),
        pytest.param(
            [resource_slice("a", [gpu(0)], count=2)], [], ((DRIVER, "a"),), id="half a pool"
        ),
        pytest.param(
            [
                resource_slice("a", [gpu(0)], generation=2, count=2),
                resource_slice("a", [gpu(1)], generation=1, count=2, part="b"),
            ],
            [],
            ((DRIVER, "a"),),
            id="one slice of two is newer",
        ),
        pytest.param(
            [
                resource_slice("a", [gpu(0)], count=2),
                resource_slice("a", [gpu(1)], count=2, part="b"),
            ],
            ["a/gpu-0", "a/gpu-1"],
            (),
            id="both slices",
        ),
    ],
)
def test_a_pool_counts_only_when_its_newest_generation_is_whole(
    slices: list[Wire], want: list[str], incomplete: tuple[tuple[str, str], ...]
) -> None:
    found = index([node("a", gpu="h100"), *slices])
    assert names(found, gpu="h100") == want
    assert found.incomplete == incomplete


@pytest.mark.parametrize(
    ("place", "want"),
    [
        pytest.param({"allNodes": True}, ["a/gpu-0"], id="all nodes"),
        pytest.param({"nodeName": "other"}, [], id="a node of another flavor"),
        pytest.param(
            {
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["1"]}]}
                    ]
                }
            },
            ["a/gpu-0"],
            id="a selector of labels",
        ),
        pytest.param(
            {
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["other"]}
                            ]
                        }
                    ]
                }
            },
            [],
            id="a selector of names",
        ),
    ],
)
def test_devices_that_several_nodes_reach_are_found_by_these(place: Wire, want: list[str]) -> None:
    found = resource_slice("a", [gpu(0)])
    del found["spec"]["nodeName"]
    found["spec"] |= place
    nodes = [node("a", gpu="h100", rack="1"), node("other", gpu="a100")]
    assert names(index([*nodes, found]), gpu="h100") == want


@pytest.mark.parametrize(
    ("capacity", "asked", "taken"),
    [
        pytest.param(Capacity(value=48 * GI), None, 48 * GI, id="all of it without a policy"),
        pytest.param(Capacity(value=48 * GI), 8 * GI, 48 * GI, id="also when less is asked"),
        pytest.param(Capacity(value=48 * GI, default=GI), None, GI, id="the default"),
        pytest.param(
            Capacity(value=48 * GI, default=GI, least=GI, step=GI, most=48 * GI),
            15500 * 2**20 * 10**9,
            16 * GI,
            id="up to the next step",
        ),
        pytest.param(
            Capacity(value=48 * GI, default=GI, least=4 * GI, step=2 * GI),
            5 * GI,
            6 * GI,
            id="steps begin at the minimum",
        ),
        pytest.param(
            Capacity(value=48 * GI, default=GI, least=4 * GI), GI, 4 * GI, id="the minimum"
        ),
        pytest.param(
            Capacity(value=48 * GI, default=GI, valid=(GI, 8 * GI)), 2 * GI, 8 * GI, id="a value"
        ),
        pytest.param(
            Capacity(value=48 * GI, default=GI, valid=(GI, 8 * GI)), 9 * GI, None, id="no value"
        ),
        pytest.param(Capacity(value=GI, default=GI, most=GI), 2 * GI, None, id="too much"),
    ],
)
def test_what_is_taken_of_a_shared_capacity_follows_its_policy(
    capacity: Capacity, asked: int | None, taken: int | None
) -> None:
    assert capacity.consumed(asked) == taken
