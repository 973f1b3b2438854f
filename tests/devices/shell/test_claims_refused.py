"""A namespace without room for claims: who is admitted is told, and starts when there is room."""

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, Wire, job, true
from tests.devices.shell.test_claims_of_users import DEVICE_CLASS, DEVICE_FLAVOR, GPU, queue

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


def asking() -> Wire:
    made = job("a", seconds=60_000)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
    return made


async def test_a_claim_that_the_server_does_not_take_deactivates_and_is_quoted(
    world: MakeWorld,
) -> None:
    bad = "spec.devices.config[0].opaque.parameters: unknown field sharring"

    async def refuse(call: HttpRequest) -> Fault | None:
        made = call.method == "POST" and "/resourceclaimtemplates" in call.path
        return Fault(status=422, reason="Invalid", message=bad) if made else None

    async with world(intercept=refuse) as w:
        await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, asking())
        out = await w.workload("a", true("Evicted"))
        (told,) = (one for one in out["status"]["conditions"] if one["type"] == "Evicted")
        assert "DeviceRequestInvalid" in told["reason"]
        assert bad in told["message"]
        assert out["spec"]["active"] is False
        assert (await w.get("Job", "a"))["spec"]["suspend"]


async def test_a_quota_that_refuses_a_template_is_told_until_there_is_room(
    world: MakeWorld,
) -> None:
    left = [3]

    async def refuse(call: HttpRequest) -> Fault | None:
        made = call.method == "POST" and "/resourceclaimtemplates" in call.path
        if not made or not left[0]:
            return None
        left[0] -= 1
        return Fault(status=403, reason="Forbidden", message=FULL)

    async with world(intercept=refuse) as w:
        await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, asking())
        await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
        assert not left[0]

        def concerns(one: Wire) -> bool:
            return bool(one["reason"] == "NamespaceQuotaExceeded")

        told = [one for one in await w.list("Event") if concerns(one)]
        assert {one["regarding"]["kind"] for one in told} == {"Job", "Workload"}
        assert all(FULL in one["note"] for one in told)


@pytest.mark.parametrize("dry", [True, False])
async def test_who_meets_a_server_that_knows_no_roles_yet_starts_when_it_does(
    world: MakeWorld, *, dry: bool
) -> None:
    left = [2]
    unknown = (
        'resourceclaimtemplates.resource.k8s.io is forbidden: User "us" cannot create resource'
        ' "resourceclaimtemplates" in API group "resource.k8s.io" in the namespace "team"'
    )

    async def refuse(call: HttpRequest) -> Fault | None:
        made = call.method == "POST" and "/resourceclaimtemplates" in call.path
        if not made or call.dry_run is not dry or not left[0]:
            return None
        left[0] -= 1
        return Fault(status=403, reason="Forbidden", message=unknown)

    async with world(intercept=refuse) as w:
        await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, asking())
        await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
        assert not left[0]
        assert "Evicted" not in {
            one["type"] for one in (await w.workload("a", true("Admitted")))["status"]["conditions"]
        }


async def test_the_condition_of_a_device_flavor_is_written_once_the_server_takes_it(
    world: MakeWorld,
) -> None:
    left = [4]

    async def fail(call: HttpRequest) -> Fault | None:
        if call.method != "PATCH" or "/deviceflavors/" not in call.path or not left[0]:
            return None
        left[0] -= 1
        return Fault(status=503)

    async with world(intercept=fail) as w:
        await w.make(DEVICE_CLASS, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        assert not left[0]


async def test_the_template_of_a_job_that_is_being_deleted_is_not_made_again(
    world: MakeWorld,
) -> None:
    made: list[str] = []

    async def count(call: HttpRequest) -> Fault | None:
        if call.method == "POST" and "/resourceclaimtemplates" in call.path:
            made.append(call.path)
        return None

    async with world(intercept=count) as w:
        await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
        await w.until("DeviceFlavor", "default", true("Active"))
        held = {
            **asking(),
            "metadata": {**asking()["metadata"], "finalizers": ["example.com/wait"]},
        }
        await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, held)
        await w.until("Job", "a", lambda one: not one["spec"]["suspend"])
        (template,) = await w.list("ResourceClaimTemplate")
        before = len(made)
        await w.delete("Job", "a")
        await w.until("Job", "a", lambda one: "deletionTimestamp" in one["metadata"])
        await w.delete("ResourceClaimTemplate", template["metadata"]["name"])
        await w.make({**LOCAL_QUEUE, "metadata": {"name": "other", "namespace": "team"}})
        await w.until("LocalQueue", "other", true("Active"))
        assert len(made) == before
        await w.patch("Job", "a", {"metadata": {"finalizers": None}})
        await w.until_gone("Job", "a")
