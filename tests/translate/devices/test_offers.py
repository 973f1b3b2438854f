"""What a flavor's devices are to those who ask for them."""

import json
from typing import Any

import pytest

from queueing.translate.devices.offers import Judgement, judge
from queueing.translate.inbound.workloads import asks_of
from queueing.translate.requests import Surroundings
from tests.translate.devices.fleet import (
    around,
    device_class,
    device_flavor,
    fleet,
    gpu,
    gpus,
    index,
    node,
    pod_template,
    resource_slice,
    whole_gpu,
    workload,
)

Wire = dict[str, Any]


def judged(documents: list[Wire], template: Wire, flavor: str = "h100", **labels: str) -> Judgement:
    known = around(documents)
    asks = asks_of(workload(template), Surroundings(devices=known))
    assert asks.problems == ""
    (shape,) = asks.shapes
    found = judge(
        shape, flavor, labels or {"gpu": flavor}, catalog=known.catalog, index=index(documents)
    )
    assert found is not None
    return found


def traits(**wanted: Any) -> Wire:
    return {"queueing.dev/traits": json.dumps({"nvidia.com/gpu": wanted})}


@pytest.mark.parametrize(
    ("template", "flavor", "pods"),
    [
        pytest.param(pod_template(gpus(1)), "h100", 16, id="one each"),
        pytest.param(pod_template(gpus(3)), "h100", 4, id="pods do not span nodes"),
        pytest.param(pod_template(gpus(8)), "h100", 2, id="whole nodes"),
        pytest.param(pod_template(gpus(1)), "a100", 4, id="another flavor"),
        pytest.param(
            pod_template(gpus(4), annotations=traits(samePCIeRoot=True)), "h100", 4, id="one root"
        ),
        pytest.param(
            pod_template(gpus(3), annotations=traits(samePCIeRoot=True)), "h100", 4, id="3 of 4"
        ),
        pytest.param(
            pod_template(gpus(2, "a"), gpus(2, "b"), annotations=traits(samePCIeRoot=True)),
            "h100",
            4,
            id="containers of a pod share a root",
        ),
    ],
)
def test_devices_serve_as_many_pods_as_fit_on_nodes(template: Wire, flavor: str, pods: int) -> None:
    found = judged(fleet(), template, flavor)
    assert (found.offer.problem, found.offer.pods_max) == ("", pods)


@pytest.mark.parametrize(
    ("template", "flavor", "says"),
    [
        pytest.param(
            pod_template(gpus(8)),
            "a100",
            "flavor a100: 4 of 8 device(s) match the request",
            id="too few",
        ),
        pytest.param(
            pod_template(gpus(9)),
            "h100",
            "flavor h100: 8 of 9 device(s) match on any one node",
            id="too few on a node",
        ),
        pytest.param(
            pod_template(gpus(1), annotations=traits(minMemory="80Gi")),
            "a100",
            "flavor a100: 0 of 1 device(s) match the request",
            id="too small",
        ),
        pytest.param(
            pod_template(gpus(8), annotations=traits(samePCIeRoot=True)),
            "h100",
            "flavor h100: not enough devices of one node share resource.kubernetes.io/pcieRoot",
            id="too far apart",
        ),
        pytest.param(
            pod_template(gpus(1), annotations=traits(fast=True)),
            "h100",
            "flavor h100: trait fast of nvidia.com/gpu is not offered, only minMemory,"
            " samePCIeRoot",
            id="a trait that is not offered",
        ),
    ],
)
def test_a_flavor_whose_devices_cannot_serve_says_why(
    template: Wire, flavor: str, says: str
) -> None:
    assert judged(fleet(), template, flavor).offer.problem == says


def test_a_selector_that_fails_on_a_device_names_the_attribute_and_the_device() -> None:
    bad = whole_gpu("device.attributes['gpu.nvidia.com'].nope == 1")
    documents = [
        node("n0", gpu="h100"),
        resource_slice("n0", [gpu(0)]),
        device_class(),
        device_flavor("h100", "h100", bad),
    ]
    found = judged(documents, pod_template(gpus(1)))
    assert found.refusal is not None
    assert found.refusal.reason == "SelectorWouldAbort"
    assert "attribute nope is missing on gpu-0" in found.offer.problem


def test_what_is_not_evaluated_counts_every_device_and_is_said() -> None:
    odd = whole_gpu("sets.contains([1], [1])")
    documents = [
        node("n0", gpu="h100"),
        resource_slice("n0", [gpu(0), gpu(1)]),
        device_class(),
        device_flavor("h100", "h100", odd),
    ]
    found = judged(documents, pod_template(gpus(2)))
    assert (found.offer.problem, found.offer.amount) == ("", 2)
    assert "sets.contains is not evaluated here" in found.doubts[0]


def test_a_class_that_is_not_installed_is_named() -> None:
    documents = [one for one in fleet() if one["kind"] != "DeviceClass"]
    found = judged(documents, pod_template(gpus(1)))
    assert found.refusal is not None
    assert found.refusal.reason == "DeviceClassNotFound"
    assert found.offer.problem == "flavor h100: DeviceClass gpu.nvidia.com is not installed"
