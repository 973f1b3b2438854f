"""Which claims hold devices."""

from typing import Any

from queueing.translate.devices.allocations import still_held
from queueing.translate.inbound.manifests import read
from queueing.translate.wire import devices as wire
from tests.translate.devices.fleet import DRIVER


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
