"""What a flavor's devices are to those who ask for them."""

import json
from typing import Any

import pytest

from queueing.devices.wire.offers import Judgement, judge
from queueing.translate.inbound.workloads import asks_of
from queueing.translate.requests import Surroundings
from tests.devices.fleet import (
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
            "flavor a100: NoMatchingDevices: 4 of 8 device(s) match the request",
            id="too few",
        ),
        pytest.param(
            pod_template(gpus(9)),
            "h100",
            "flavor h100: NoMatchingDevices: 8 of 9 device(s) match on any one node",
            id="too few on a node",
        ),
        pytest.param(
            pod_template(gpus(1), annotations=traits(minMemory="80Gi")),
            "a100",
            "flavor a100: NoMatchingDevices: 0 of 1 device(s) match the request; none of 4 meets"
            " device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
            id="too small",
        ),
        pytest.param(
            pod_template(gpus(8), annotations=traits(samePCIeRoot=True)),
            "h100",
            "flavor h100: NoMatchingDevices: not enough devices of one node share"
            " resource.kubernetes.io/pcieRoot",
            id="too far apart",
        ),
        pytest.param(
            pod_template(gpus(1), annotations=traits(fast=True)),
            "h100",
            "flavor h100: UnsupportedDeviceRequest: trait fast of nvidia.com/gpu is not offered,"
            " only minMemory,"
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
    assert found.offer.problem == (
        "flavor h100: SelectorWouldAbort: attribute nope is missing on gpu-0 (driver"
        " gpu.nvidia.com, pool n0); guard with 'nope' in ..."
    )


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
    told = "flavor h100: DeviceClassNotFound: DeviceClass gpu.nvidia.com is not installed"
    assert found.offer.problem == told


def test_a_selector_that_the_server_would_refuse_is_quoted_with_what_is_wrong() -> None:
    documents = [one for one in fleet() if one["kind"] != "DeviceClass"]
    broken = device_class()
    broken["spec"]["selectors"][0]["cel"]["expression"] = "device.driver =="
    found = judged([*documents, broken], pod_template(gpus(1)))
    assert found.refusal is not None
    told = "flavor h100: DeviceRequestInvalid: selector 'device.driver ==': "
    assert found.offer.problem.startswith(told)
    assert len(found.offer.problem) > len(told)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param("100Gi", "memory 48Gi < 100Gi", id="more than there is"),
        pytest.param("64Gi", "memory 48Gi < 64Gi", id="more than the largest"),
        pytest.param("47Gi", "memory is not given out as 47Gi", id="no part that is given out"),
    ],
)
def test_devices_that_are_too_small_say_what_they_have(asked: str, says: str) -> None:
    policy = {"default": "8Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "1Gi"}}
    parts = {"memory": {"value": "48Gi", "requestPolicy": policy}}
    shared = gpu(0, capacity=parts, allowMultipleAllocations=True)
    small = gpu(1, capacity={"memory": {"value": "24Gi"}}, allowMultipleAllocations=True)
    served = whole_gpu()
    served["request"]["capacityPerUnit"] = {"memory": asked}
    documents = [
        node("n0", gpu="h100"),
        resource_slice("n0", [shared, small]),
        device_class(),
        device_flavor("h100", "h100", served),
    ]
    found = judged(documents, pod_template(gpus(1)))
    assert found.offer.problem == f"flavor h100: NoMatchingDevices: {says}"


def test_a_flavor_without_devices_names_the_pools_that_are_not_whole() -> None:
    documents = [node("n0", gpu="h100"), device_class(), device_flavor("h100", "h100")]
    told = "flavor h100: NoMatchingDevices: 0 of 1 device(s) match the request; "
    found = judged(documents, pod_template(gpus(1)))
    assert found.offer.problem == f"{told}no device is published on its nodes"
    halves = [resource_slice(f"n{at}", [gpu(0)], count=2) for at in range(4)]
    found = judged([*documents, *halves], pod_template(gpus(1)))
    assert found.offer.problem == (
        f"{told}no device is published on its nodes; not whole, so that none of it counts: pool"
        " n0 of gpu.nvidia.com, n1 of gpu.nvidia.com, n2 of gpu.nvidia.com and 1 more"
    )


def test_a_long_selector_is_quoted_in_part() -> None:
    long = " || ".join(["device.driver == 'x'"] * 40)
    documents = [one for one in fleet() if one["kind"] != "DeviceFlavor"]
    documents.append(device_flavor("h100", "h100", whole_gpu(long)))
    found = judged(documents, pod_template(gpus(1)))
    assert found.offer.problem.endswith(f"none of 16 meets {long[:200]}...")


SLOT = {"queueing.dev/slot.gpu": json.dumps({"resource": "nvidia.com/gpu", "count": 2})}
SLOTTED = pod_template(
    {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}},
    annotations=SLOT,
    claims=[{"name": "gpu", "resourceClaimTemplateName": "mine"}],
)


@pytest.mark.parametrize(
    ("template", "together"),
    [
        pytest.param(pod_template(gpus(2)), True, id="one claim for all"),
        pytest.param(SLOTTED, False, id="a slot is filled for each pod"),
    ],
)
def test_only_pods_that_use_one_claim_are_charged_together(template: Wire, together: bool) -> None:
    documents = [one for one in fleet() if one["kind"] != "DeviceFlavor"]
    documents.append(device_flavor("h100", "h100", whole_gpu(sharing="PerPodSet")))
    found = judged(documents, template)
    assert (found.offer.problem, found.offer.amount) == ("", 2)
    assert found.offer.together is together


PLUGIN, SLOT_ONLY = "plugin", "slot"


@pytest.mark.parametrize(
    ("flavor", "template", "says"),
    [
        pytest.param(PLUGIN, pod_template(gpus(64)), "", id="any count of a device plugin"),
        pytest.param(
            PLUGIN,
            pod_template(gpus(2), annotations=traits(samePCIeRoot=True)),
            "trait samePCIeRoot of nvidia.com/gpu is not offered: it is a device plugin's",
            id="no trait of a device plugin",
        ),
        pytest.param(
            PLUGIN,
            SLOTTED,
            "nvidia.com/gpu is a device plugin's: no claim fills slot gpu",
            id="no slot by a device plugin",
        ),
        pytest.param(SLOT_ONLY, SLOTTED, "", id="a slot"),
        pytest.param(
            SLOT_ONLY,
            pod_template(gpus(2)),
            "nvidia.com/gpu is given only to pods that declare a claim for it",
            id="no slot is declared",
        ),
        pytest.param(
            "h100",
            pod_template(gpus(33)),
            "33 of nvidia.com/gpu: one claim can be given 32 devices",
            id="more than a claim can be given",
        ),
    ],
)
def test_what_a_strategy_cannot_do_is_refused_by_its_flavor(
    flavor: str, template: Wire, says: str
) -> None:
    plugin = {"name": "nvidia.com/gpu", "strategy": "Native"}
    documents = [
        *fleet(),
        device_flavor(PLUGIN, PLUGIN, plugin),
        device_flavor(SLOT_ONLY, SLOT_ONLY, whole_gpu(strategy="Slot")),
    ]
    told = f"flavor {flavor}: UnsupportedDeviceRequest: {says}" if says else ""
    labels = {"gpu": "h100"} if flavor == SLOT_ONLY else {}
    assert judged(documents, template, flavor, **labels).offer.problem == told


def test_a_resource_of_a_device_plugin_makes_no_other_resource_a_device() -> None:
    plugin = {"name": "nvidia.com/gpu", "strategy": "Native"}
    documents = [node("n0"), device_flavor("plain", "plain", plugin)]
    plain = pod_template({"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}})
    asks = asks_of(workload(plain), Surroundings(devices=around(documents)))
    assert (asks.problems, asks.shapes) == ("", ())
