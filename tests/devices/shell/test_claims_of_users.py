"""Claims that users wrote: what they were given is charged, and what they ask for is watched."""

from collections.abc import Callable
from typing import Any

from tests.controller.harness import FLAVOR, KUEUE, LOCAL_QUEUE, MakeWorld, Wire, World, job, true

GPU = "example.com/gpu"
DEVICE_FLAVOR: Wire = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "DeviceFlavor",
    "metadata": {"name": "default"},
    "spec": {
        "resourceFlavor": "default",
        "resources": [{"name": GPU, "request": {"deviceClassName": "gpu"}}],
    },
}
DEVICE_CLASS: Wire = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {},
}
WAYS = {"few": 2, "many": 8}


def queue(gpus: str) -> Wire:
    quota = [{"name": "cpu", "nominalQuota": "9"}, {"name": GPU, "nominalQuota": gpus}]
    group = {"coveredResources": ["cpu", GPU], "flavors": [{"name": "default", "resources": quota}]}
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    }


def asked(**ways: int) -> Wire:
    found = [
        {"name": way, "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
        for way, count in ways.items()
    ]
    return {"devices": {"requests": [{"name": "gpu", "firstAvailable": found}]}}


def shared(name: str) -> Wire:
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "spec": asked(**WAYS),
    }


def template(**ways: int) -> Wire:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "mine", "namespace": "team"},
        "spec": {"spec": asked(**ways)},
    }


def claiming(name: str, **claim: str) -> Wire:
    made = job(name, seconds=60_000)
    made["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", **claim}]
    return made


async def allocate(w: World, claim: str, way: str) -> None:
    results = [
        {"request": f"gpu/{way}", "driver": "d", "pool": "n", "device": f"gpu-{number}"}
        for number in range(WAYS[way])
    ]
    allocation = {"devices": {"results": results}}
    await w.patch("ResourceClaim", claim, {"status": {"allocation": allocation}}, "status")


def uses(gpus: str) -> Callable[[Wire], bool]:
    def says(one: Wire) -> bool:
        told: list[dict[str, Any]] = one.get("status", {}).get("flavorsUsage") or [{}]
        return {r["name"]: r["total"] for r in told[0].get("resources", [])}.get(GPU) == gpus

    return says


async def prepare(w: World, gpus: str, *objects: Wire) -> None:
    await w.make(DEVICE_CLASS, DEVICE_FLAVOR)
    await w.until("DeviceFlavor", "default", true("Active"))
    await w.make(FLAVOR, queue(gpus), LOCAL_QUEUE, *objects)


async def test_who_was_given_more_than_is_left_has_to_go(world: MakeWorld) -> None:
    async with world() as w:
        first, second = shared("first"), shared("second")
        await prepare(w, "10", first, second, claiming("first", resourceClaimName="first"))
        await w.workload("first", true("Admitted"))
        await w.until("ClusterQueue", "cq", uses("8"))
        await allocate(w, "first", "few")
        await w.until("ClusterQueue", "cq", uses("2"))
        await w.make(claiming("second", resourceClaimName="second"))
        await w.workload("second", true("Admitted"))
        await w.until("ClusterQueue", "cq", uses("10"))
        await allocate(w, "first", "many")
        gone = await w.workload("first", true("Evicted", "DevicesChanged"))
        told = next(c for c in gone["status"]["conditions"] if c["type"] == "Evicted")
        assert "count as more than those before" in told["message"]
        await w.workload("second", true("Admitted"))


async def test_who_was_given_more_may_stay_where_there_is_room(world: MakeWorld) -> None:
    async with world() as w:
        made = claiming("first", resourceClaimName="first")
        await prepare(w, "10", shared("first"), made)
        await w.workload("first", true("Admitted"))
        await allocate(w, "first", "few")
        await w.until("ClusterQueue", "cq", uses("2"))
        await allocate(w, "first", "many")
        await w.until("ClusterQueue", "cq", uses("8"))
        assert not true("Evicted")(await w.workload("first", true("Admitted")))


async def test_a_template_that_asks_for_something_else_now_ends_those_who_started_by_it(
    world: MakeWorld,
) -> None:
    async with world() as w:
        made = claiming("bound", resourceClaimTemplateName="mine")
        await prepare(w, "8", template(**WAYS), made)
        started = await w.until("Job", "bound", lambda one: not one["spec"]["suspend"])
        marks = started["spec"]["template"]["metadata"]
        assert "queueing.dev/claim-specs" in marks["annotations"]
        await w.delete("ResourceClaimTemplate", "mine")
        await w.make(template(**WAYS))
        admitted = await w.workload("bound", true("Admitted"))
        assert not true("Evicted")(admitted), "the same again ends nobody"
        await w.delete("ResourceClaimTemplate", "mine")
        await w.make(template(few=1))

        def again(one: Wire) -> bool:
            admission = one["status"].get("admission")
            if not admission or not true("Admitted")(one):
                return False
            return bool(admission["podSetAssignments"][0]["resourceUsage"][GPU] == "1")

        last = await w.workload("bound", again)
        evictions = last["status"]["schedulingStats"]["evictions"]
        assert [(one["reason"], one["count"]) for one in evictions] == [("DevicesChanged", 1)]
