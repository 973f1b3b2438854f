"""What claims were given, and what it counts as."""

from typing import Any

import pytest

from queueing.translate.devices.allocations import charged, holdings, still_held
from queueing.translate.inbound.manifests import read
from queueing.translate.wire import devices as wire
from tests.translate.devices.fleet import (
    DRIVER,
    around,
    device_flavor,
    fleet,
    gpu,
    index,
    node,
    resource_slice,
    whole_gpu,
)

Wire = dict[str, Any]
GI = 2**30


def claim(name: str, *devices: str, allocated: bool = True, **more: Any) -> wire.ResourceClaim:
    results = [
        {"request": "c0", "driver": DRIVER, "pool": "n0", "device": one, **more} for one in devices
    ]
    labels = {
        "queueing.dev/workload-uid": "w",
        "queueing.dev/pod-set": "main",
        "queueing.dev/flavor": "h100",
    }
    annotations = {"queueing.dev/resource": "nvidia.com/gpu"}
    status = {"allocation": {"devices": {"results": results}}} if allocated else {}
    metadata = {"name": name, "namespace": "team", "labels": labels, "annotations": annotations}
    return read(wire.ResourceClaim, {"metadata": metadata, "status": status})


def test_quota_stays_charged_until_no_claim_holds_devices() -> None:
    claims = [claim("b", "gpu-0"), claim("a", "gpu-1"), claim("waits", allocated=False)]
    assert still_held(claims, "w") == ("team/a", "team/b")
    assert still_held(claims, "another") == ()


@pytest.mark.parametrize(
    ("claims", "documents", "want"),
    [
        pytest.param(
            [claim("a", "gpu-0", "gpu-1"), claim("b", "gpu-2")],
            fleet(),
            {("main", "nvidia.com/gpu"): 3},
            id="devices",
        ),
        pytest.param([claim("a", "gpu-77")], fleet(), None, id="a device that is not known"),
        pytest.param([claim("a", "gpu-0", adminAccess=True)], fleet(), {}, id="only looked at"),
        pytest.param(
            [claim("a", "gpu-0", consumedCapacity={"memory": "16Gi"})],
            [
                node("n0", gpu="h100"),
                resource_slice("n0", [gpu(0, allowMultipleAllocations=True)]),
                device_flavor(
                    "h100",
                    "h100",
                    whole_gpu(
                        charge={"type": "Capacity", "name": "memory", "quotaResource": "gpu-memory"}
                    ),
                ),
            ],
            {("main", "gpu-memory"): 16 * GI},
            id="what is consumed of a shared device",
        ),
    ],
)
def test_what_was_given_counts_as_the_flavor_says(
    claims: list[wire.ResourceClaim],
    documents: list[Wire],
    want: dict[tuple[str, str], int] | None,
) -> None:
    known = {one.name: one for one in index(documents).devices}
    assert charged(holdings(claims), known, around(documents).catalog) == want
