"""Claims for which the whole cluster has too few devices: told, and tried again when some come."""

from collections.abc import Callable

import pytest

from queueing.core.settings import Compatibility
from tests.controller.harness import FLAVOR, KUEUE, LOCAL_QUEUE, MakeWorld, Wire, false, true
from tests.devices.fleet import DRIVER, HOPPER, gpu, node, resource_slice
from tests.devices.shell.test_claims_of_users import DEVICE_CLASS, claiming

MAPPINGS = {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": ["gpu"]}]}
LACK = (
    "insufficient matching devices for CEL selector in DeviceClass gpu:"
    " 1 device(s) match in the cluster but 2 requested"
)


def queue() -> Wire:
    quota = [{"name": "cpu", "nominalQuota": "9"}, {"name": "gpus", "nominalQuota": "8"}]
    flavors = [{"name": "default", "resources": quota}]
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": "StrictFIFO",
            "resourceGroups": [{"coveredResources": ["cpu", "gpus"], "flavors": flavors}],
        },
    }


def template(count: int) -> Wire:
    selectors = [{"cel": {"expression": f"device.driver == '{DRIVER}' && {HOPPER}"}}]
    exactly = {"deviceClassName": "gpu", "count": count, "selectors": selectors}
    devices = {"requests": [{"name": "gpu", "exactly": exactly}]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"mine-{count}", "namespace": "team"},
        "spec": {"spec": {"devices": devices}},
    }


def says(kind: str, reason: str) -> Callable[[Wire], bool]:
    holds = false(kind, reason)

    def told(one: Wire) -> bool:
        messages = {c["type"]: c["message"] for c in one.get("status", {}).get("conditions", [])}
        return holds(one) and messages[kind] == LACK

    return told


@pytest.mark.parametrize("mode", list(Compatibility))
async def test_a_lack_in_the_whole_cluster_is_told_and_ends_with_new_devices(
    world: MakeWorld, mode: Compatibility
) -> None:
    async with world(compatibility=mode, resources=MAPPINGS) as w:
        other = gpu(1, model="Ampere")
        await w.make(DEVICE_CLASS, resource_slice("n0", [gpu(0), other]), template(1), template(2))
        await w.make(*(node(name, pool="any") for name in ("n0", "n1")))
        await w.make(FLAVOR, queue(), LOCAL_QUEUE)
        await w.make(claiming("two", resourceClaimTemplateName="mine-2"))
        await w.workload("two", says("QuotaReserved", "Misconfigured"))
        await w.workload("two", says("Requeued", "Inadmissible"))
        # It is not in its queue, so that it keeps nobody waiting.
        await w.make(claiming("one", resourceClaimTemplateName="mine-1"))
        await w.workload("one", true("Admitted"))
        await w.make(resource_slice("n1", [gpu(7), gpu(8)]))
        found = await w.workload("two", true("Admitted"))
        kinds = {one["type"] for one in found["status"]["conditions"]}
        assert "Requeued" not in kinds
