"""Why pods wait for their devices, and what is free of them."""

from typing import Any

import pytest

from queueing.devices.rules.free import free_text
from queueing.devices.rules.index import DeviceName
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.wire.delays import (
    Delay,
    Pod,
    PodEvent,
    delay_of,
    lacks_a_claim,
    waits_for_devices,
)
from queueing.translate.inbound.manifests import read
from tests.devices.fleet import DRIVER, fleet, gpu, index, node, resource_slice

QUOTA = "pods 'a' is forbidden: exceeded quota: devices, requested: 2, used: 2, limited: 3"


def pod(*, says: str = "", gated: bool = False, claim: bool = True, **spec: Any) -> Pod:
    conditions = [{"type": "PodScheduled", "status": "False", "message": says}] if says else []
    gates = [{"name": "queueing.dev/claims"}] if gated else []
    claims = [{"name": "kq-dra"}] if claim and not gated else []
    labels = {"queueing.dev/inject": "true"} if gated else {}
    return read(
        Pod,
        {
            "metadata": {"name": "a", "labels": labels},
            "spec": {"schedulingGates": gates, "resourceClaims": claims, **spec},
            "status": {"phase": "Pending", "conditions": conditions},
        },
    )


RUNS = pod(nodeName="n0")
SILENT = pod()


def event(message: str, reason: str = "FailedResourceClaimCreation") -> PodEvent:
    return read(PodEvent, {"metadata": {"name": "e"}, "reason": reason, "message": message})


@pytest.mark.parametrize(
    ("pods", "events", "reason", "words"),
    [
        pytest.param(
            [RUNS, pod(says="0/2 nodes: cannot allocate all claims")],
            [],
            DeviceReason.NOT_ALLOCATED,
            "1 of 2 pod(s) wait for their devices: 0/2 nodes: cannot allocate all claims; VIEW",
            id="what the scheduler says, and our view",
        ),
        pytest.param(
            [SILENT],
            [],
            DeviceReason.NOT_ALLOCATED,
            "1 of 1 pod(s) wait for their devices: nobody has said why yet; VIEW",
            id="nobody says anything",
        ),
        pytest.param(
            [SILENT],
            [event("template kq-a not found")],
            DeviceReason.NOT_ALLOCATED,
            "wait for their devices: template kq-a not found; VIEW",
            id="a template is missing",
        ),
        pytest.param(
            [RUNS, SILENT],
            [event(QUOTA)],
            DeviceReason.NAMESPACE_QUOTA,
            f"1 of 2 pod(s) get no devices, for a ResourceQuota of the namespace is exhausted:"
            f" {QUOTA}",
            id="the namespace's quota, by an event",
        ),
        pytest.param(
            [pod(says=f"running PreBind plugin: {QUOTA}")],
            [],
            DeviceReason.NAMESPACE_QUOTA,
            QUOTA,
            id="the namespace's quota, by the scheduler",
        ),
        pytest.param(
            [pod(gated=True, says="Scheduling is blocked due to gates"), SILENT],
            [event(QUOTA)],
            DeviceReason.POLICY_MISSING,
            "1 of 2 pod(s) keep the scheduling gate queueing.dev/claims",
            id="nothing gave the pods their claims",
        ),
    ],
)
def test_pods_that_wait_are_told_why(
    pods: list[Pod], events: list[PodEvent], reason: DeviceReason, words: str
) -> None:
    found = delay_of(pods, events, "VIEW")
    assert isinstance(found, Delay)
    assert found.reason is reason
    assert words in found.text


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param([], id="no pods"),
        pytest.param([RUNS], id="one that has its node"),
        pytest.param([pod(claim=False, says="no node has enough cpu")], id="one without claims"),
    ],
)
def test_nothing_is_said_of_pods_that_wait_for_no_devices(pods: list[Pod]) -> None:
    assert delay_of(pods, [event(QUOTA)], "VIEW") is None


def test_only_pods_without_their_claim_are_asked_about() -> None:
    assert lacks_a_claim(SILENT)
    assert lacks_a_claim(pod(says="waiting for the claim to be made"))
    assert not lacks_a_claim(pod(gated=True))
    named = [{"name": "gpu", "resourceClaimName": "shared"}]
    assert not lacks_a_claim(pod(resourceClaims=named))
    assert waits_for_devices(pod(gated=True))


def test_free_devices_are_counted_by_node() -> None:
    found = index(fleet())
    held = [DeviceName(DRIVER, "n0", f"gpu-{number}") for number in range(6)]
    told = free_text(found.on({"gpu": "h100"}), held, found, ())
    assert told == "free devices: 2 of 8 on n0, 8 of 8 on n1"


def test_devices_without_room_in_their_counters_are_not_free() -> None:
    def part(number: int) -> dict[str, Any]:
        counters = {"memory": {"value": "10Gi"}}
        return gpu(number, consumesCounters=[{"counterSet": "all", "counters": counters}])

    made = resource_slice("n0", [part(number) for number in range(4)])
    sizes = {"memory": {"value": "25Gi"}, "other": {"value": "1"}}
    counted = resource_slice("n0", [], part="counters")
    counted["spec"]["sharedCounters"] = [{"name": "all", "counters": sizes}]
    for one in (made, counted):
        one["spec"]["pool"]["resourceSliceCount"] = 2
    found = index([node("n0"), made, counted])
    held = [DeviceName(DRIVER, "n0", "gpu-0")]
    told = free_text(found.devices, held, found, ["memory"])
    assert told == "free devices: 3 of 4 on n0 (memory 15Gi left)"
    full = [*held, DeviceName(DRIVER, "n0", "gpu-1")]
    told = free_text(found.devices, full, found, ["memory"])
    assert told == "free devices: 0 of 4 on n0 (memory 5Gi left)"


def test_of_many_nodes_only_some_are_named() -> None:
    documents = [
        one for n in range(5) for one in (node(f"n{n}"), resource_slice(f"n{n}", [gpu(0)]))
    ]
    found = index(documents)
    told = free_text(found.devices, (), found, ())
    assert told == "free devices: 1 of 1 on n0, 1 of 1 on n1, 1 of 1 on n2, 2 more node(s)"
    assert free_text((), (), found, ()) == "no device of the flavor is published"
