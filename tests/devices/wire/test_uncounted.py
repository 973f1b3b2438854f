"""What asks for devices by means of its own waits as long as there is no rule that counts it."""

import json
from typing import Any

import pytest

from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.catalog import catalog_of
from queueing.translate.inbound.workloads import asks_of
from queueing.translate.requests import Surroundings
from tests.devices.fleet import around, fleet, gpus, pod_template, workload

Wire = dict[str, Any]
NO_RULES = DeviceSurroundings(catalog=catalog_of(()))
TRAITS = {"queueing.dev/traits": json.dumps({"nvidia.com/gpu": {"samePCIeRoot": True}})}
SLOT = {"queueing.dev/slot.gpu": json.dumps({"resource": "nvidia.com/gpu", "count": 1})}
DECLARED = [{"name": "gpu", "resourceClaimTemplateName": "train-dra"}]


@pytest.mark.parametrize(
    ("template", "says"),
    [
        pytest.param(pod_template(gpus(1), annotations=TRAITS), "no DeviceFlavor", id="traits"),
        pytest.param(
            pod_template(gpus(1), annotations=SLOT, claims=DECLARED), "no DeviceFlavor", id="a slot"
        ),
        pytest.param(pod_template(gpus(1), claims=DECLARED), "not mapped", id="a claim"),
        pytest.param(pod_template(gpus(1)), "", id="a plain request is a device plugin's"),
    ],
)
def test_without_any_rule(template: Wire, says: str) -> None:
    problems = asks_of(workload(template), Surroundings(devices=NO_RULES)).problems
    assert says in problems
    assert bool(says) is bool(problems)


def test_traits_of_a_resource_that_no_flavor_serves_wait_for_its_device_flavor() -> None:
    wanted = {"queueing.dev/traits": json.dumps({"amd.com/gpu": {"minMemory": "80Gi"}})}
    found = asks_of(
        workload(pod_template(gpus(1), annotations=wanted)), Surroundings(devices=around(fleet()))
    )
    assert "no DeviceFlavor serves amd.com/gpu" in found.problems
