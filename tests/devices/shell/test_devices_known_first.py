"""No decision is made before it is known which devices of nodes are free."""

import msgspec

from tests.controller.harness import FLAVOR, KUEUE, LOCAL_QUEUE, MakeWorld, Wire, World, true
from tests.devices.shell.test_claims_of_users import DEVICE_CLASS, DEVICE_FLAVOR, GPU, queue
from tests.devices.shell.test_claims_that_remain import ELSEWHERE, term

TOO_FEW = "allows to fit only 1 out of 2 pod(s)"
TOPOLOGY: Wire = {
    "apiVersion": KUEUE,
    "kind": "Topology",
    "metadata": {"name": "dc"},
    "spec": {"levels": [{"nodeLabel": "pool"}]},
}
PLACING: Wire = {**FLAVOR, "spec": {**FLAVOR["spec"], "topologyName": "dc"}}
SLICE: Wire = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "node"},
    "spec": {
        "driver": "d",
        "nodeName": "node",
        "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
    },
}
OTHER: Wire = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "other", "namespace": "team"},
    "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpu"}}]}},
}
HELD: Wire = {"driver": "d", "pool": "node", "device": "gpu-0", "request": "one"}
GANG: Wire = {
    "apiVersion": KUEUE,
    "kind": "Workload",
    "metadata": {"name": "gang", "namespace": "team"},
    "spec": {
        "queueName": "lq",
        "podSets": [
            {
                "name": "main",
                "count": 2,
                "topologyRequest": {"required": "pool"},
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [
                            {"name": "c", "image": "x", "resources": {"requests": {GPU: "1"}}}
                        ],
                    }
                },
            }
        ],
    },
}


async def publish(w: World) -> None:
    """Make a node of which 8 are allocatable, and all that says that one of its devices is free."""
    await w.patch("Node", "node", {"status": {"allocatable": {GPU: "8"}}}, "status")
    await w.make(OTHER)
    allocation = {"devices": {"results": [HELD]}}
    await w.patch("ResourceClaim", "other", {"status": {"allocation": allocation}}, "status")
    await w.make(SLICE, DEVICE_CLASS, DEVICE_FLAVOR, TOPOLOGY, queue("8"), LOCAL_QUEUE, GANG)


def is_decided(one: Wire) -> bool:
    return true("QuotaReserved")(one) or TOO_FEW in told(one)


def told(one: Wire) -> str:
    return msgspec.json.encode(one.get("status", {}).get("conditions", [])).decode()


async def test_a_term_begins_with_the_devices_of_nodes(world: MakeWorld) -> None:
    async with world(**ELSEWHERE) as w:
        await publish(w)
        await w.make(PLACING)
        async with term(w):
            decided = await w.until("Workload", "gang", is_decided)
            assert TOO_FEW in told(decided)


async def test_a_flavor_comes_with_the_devices_of_its_nodes(world: MakeWorld) -> None:
    async with world(**ELSEWHERE) as w:
        await publish(w)
        async with term(w):
            await w.until("Workload", "gang", lambda one: "inactive" in told(one))
            await w.make(PLACING)
            decided = await w.until("Workload", "gang", is_decided)
            assert TOO_FEW in told(decided)
