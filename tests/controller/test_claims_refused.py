"""A namespace without room for claims: who is admitted is told, and starts when there is room."""

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import Call
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, Wire, job, true
from tests.controller.test_claims_of_users import DEVICE_CLASS, DEVICE_FLAVOR, GPU, queue

SLICE: Wire = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "one"},
    "spec": {
        "driver": "d",
        "nodeName": "node",
        "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}],
    },
}
FULL = "exceeded quota: claims, requested: 1, used: 3, limited: 3"


async def test_a_quota_that_refuses_a_template_is_told_until_there_is_room(
    world: MakeWorld,
) -> None:
    left = [3]

    async def refuse(call: Call) -> Fault | None:
        made = call.method == "POST" and "/resourceclaimtemplates" in call.path
        if not made or not left[0]:
            return None
        left[0] -= 1
        return Fault(status=403, reason="Forbidden", message=FULL)

    async with world(intercept=refuse) as w:
        await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        asking = job("a", seconds=60_000)
        container = asking["spec"]["template"]["spec"]["containers"][0]
        container["resources"] = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
        await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, asking)
        await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
        assert not left[0]

        def concerns(one: Wire) -> bool:
            return bool(one["reason"] == "NamespaceQuotaExceeded")

        told = [one for one in await w.list("Event") if concerns(one)]
        assert {one["regarding"]["kind"] for one in told} == {"Job", "Workload"}
        assert all(FULL in one["note"] for one in told)
