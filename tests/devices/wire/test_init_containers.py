"""Init containers with devices: what a pod is charged, and which of them can be served."""

from typing import Any

import pytest

from queueing.devices.rules.messages import DeviceReason
from queueing.translate.inbound.workloads import asks_of
from queueing.translate.requests import Surroundings
from tests.devices.fleet import (
    DRIVER,
    around,
    device_class,
    device_flavor,
    fleet,
    gpu,
    gpus,
    node,
    pod_template,
    resource_slice,
    whole_gpu,
    workload,
)
from tests.devices.wire.test_offers import judged

Wire = dict[str, Any]
NO_GPU: Wire = {"name": "plain", "image": "i", "resources": {"requests": {"cpu": "1"}}}


def pod(containers: list[Wire], *inits: Wire) -> Wire:
    made = pod_template(*containers)
    made["spec"]["initContainers"] = list(inits)
    return made


def sidecar(count: int, name: str = "beside") -> Wire:
    return {**gpus(count, name), "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("template", "amount", "pods"),
    [
        pytest.param(pod([gpus(4)], gpus(4, "check")), 4, 4, id="as many as the container"),
        pytest.param(
            pod([gpus(1, "a"), gpus(3, "b")], gpus(3, "check")), 4, 4, id="as many as one of them"
        ),
        pytest.param(pod([NO_GPU], gpus(2, "one"), gpus(2, "two")), 2, 8, id="init only"),
        pytest.param(pod([gpus(2)], sidecar(2)), 4, 4, id="a sidecar adds its own"),
        pytest.param(pod([NO_GPU], sidecar(1)), 1, 16, id="a sidecar only"),
        pytest.param(
            pod([gpus(2)], gpus(2, "check"), sidecar(2), gpus(2, "again")), 4, 4, id="all kinds"
        ),
    ],
)
def test_a_pod_is_charged_what_it_has_at_once(template: Wire, amount: int, pods: int) -> None:
    found = judged(fleet(), template)
    assert (found.offer.problem, found.offer.amount, found.offer.pods_max) == ("", amount, pods)


UNEVEN = [
    pytest.param(pod([gpus(2)], gpus(4, "check")), 4, id="more than the container"),
    pytest.param(pod([gpus(2)], gpus(1, "check")), 2, id="less"),
    pytest.param(pod([NO_GPU], gpus(1, "one"), gpus(3, "check")), 3, id="unlike each other"),
    pytest.param(pod([NO_GPU], sidecar(1), gpus(3, "check")), 4, id="unlike a sidecar"),
]


@pytest.mark.parametrize(("template", "amount"), UNEVEN)
def test_what_no_container_can_lend_is_refused_where_claims_are_injected(
    template: Wire, amount: int
) -> None:
    found = judged(fleet(), template)
    assert found.refusal is not None
    assert found.refusal.reason is DeviceReason.UNSUPPORTED
    assert "asks for another number of nvidia.com/gpu" in found.offer.problem
    assert found.offer.amount == amount


@pytest.mark.parametrize(("template", "amount"), UNEVEN)
def test_where_kubernetes_shares_out_itself_they_are_served(template: Wire, amount: int) -> None:
    documents = [
        node("n0", gpu="h100"),
        resource_slice("n0", [gpu(at) for at in range(8)]),
        device_class(),
        device_flavor("h100", "h100", {**whole_gpu(), "strategy": "Class", "traits": {}}),
    ]
    offer = judged(documents, template).offer
    assert (offer.problem, offer.amount, offer.pods_max) == ("", amount, 8 // amount)


def test_the_scheduler_s_own_claims_count_what_a_pod_has_at_once() -> None:
    name = f"deviceclass.resource.kubernetes.io/{DRIVER}"

    def own(count: int, container: str) -> Wire:
        return {"name": container, "image": "i", "resources": {"requests": {name: str(count)}}}

    template = pod([own(2, "a"), own(1, "b")], own(4, "check"))
    asks = asks_of(workload(template), Surroundings(devices=around(fleet())))
    (pod_set,) = asks.pod_sets
    counted = {str(key): value for key, value in pod_set.requests.items()}
    assert counted["nvidia.com/gpu"] == 4
    assert name not in counted
