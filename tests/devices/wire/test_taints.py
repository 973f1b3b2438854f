"""Devices that a driver or an administrator tainted serve only those who tolerate it."""

from typing import Any

import pytest

from tests.devices.fleet import (
    device_class,
    device_flavor,
    gpu,
    gpus,
    node,
    pod_template,
    resource_slice,
    whole_gpu,
)
from tests.devices.wire.test_offers import judged

Wire = dict[str, Any]
BROKEN = "example.com/broken"


def taint(effect: str, key: str = BROKEN) -> Wire:
    return {"taints": [{"key": key, "value": "yes", "effect": effect}]}


def documents(
    effect: str, *, tolerations: list[Wire] | None = None, healthy: int = 2
) -> list[Wire]:
    """Return a node of four GPUs of which all but the first ones are tainted."""
    served = whole_gpu()
    if tolerations is not None:
        served["request"]["tolerations"] = tolerations
    devices = [gpu(at, **({} if at < healthy else taint(effect))) for at in range(4)]
    return [
        node("n0", gpu="h100"),
        resource_slice("n0", devices),
        device_class(),
        device_flavor("h100", "h100", served),
    ]


@pytest.mark.parametrize(
    ("effect", "pods"),
    [
        pytest.param("NoSchedule", 2, id="NoSchedule"),
        pytest.param("NoExecute", 2, id="NoExecute"),
        pytest.param("None", 4, id="a taint that only informs"),
    ],
)
def test_tainted_devices_serve_nobody(effect: str, pods: int) -> None:
    assert judged(documents(effect), pod_template(gpus(1))).offer.pods_max == pods


@pytest.mark.parametrize(
    ("toleration", "pods"),
    [
        pytest.param({"key": BROKEN, "operator": "Exists"}, 4, id="its key"),
        pytest.param({"operator": "Exists"}, 4, id="every key"),
        pytest.param({"key": BROKEN, "value": "yes", "effect": "NoExecute"}, 4, id="its value"),
        pytest.param({"key": BROKEN, "value": "no"}, 2, id="another value"),
        pytest.param({"key": BROKEN, "operator": "Exists", "effect": "NoSchedule"}, 2, id="effect"),
    ],
)
def test_a_flavor_may_tolerate_taints(toleration: Wire, pods: int) -> None:
    found = judged(documents("NoExecute", tolerations=[toleration]), pod_template(gpus(1)))
    assert found.offer.pods_max == pods


def test_who_is_refused_reads_that_taints_are_in_the_way() -> None:
    found = judged(documents("NoExecute"), pod_template(gpus(3)))
    told = "flavor h100: NoMatchingDevices: 2 of 3 device(s) match the request; 2 more would, but"
    assert found.offer.problem == f"{told} for taints ({BROKEN})"
