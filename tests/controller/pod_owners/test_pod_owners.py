"""StatefulSets and LeaderWorkerSets: their pods are queued as groups (embedded API server)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jsonpatch
import msgspec

from queueing.apiserver.memory.history import WatchEvent
from queueing.kinds.registry import kind_of
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, PODS, Resource
from queueing.webhooks.marking import marking
from queueing.webhooks.rules import OF_MUTATIONS, bound, program_of
from queueing_api.queueing.v1alpha1.queueable_kind import ThroughPods
from tests.controller.harness import WAIT_S, MakeWorld, World, false, job, true
from tests.controller.pod_owners.actor import (
    FIRST,
    LEADER_WORKER_SETS,
    OF_LWS,
    STATEFUL_SETS,
    acting,
    of_groups,
)
from tests.controller.pods.pod_harness import deleting, gated, phase, pod, setup

Wire = dict[str, Any]
LWS = "leaderworkerset.x-k8s.io/leaderworkerset"
ON: dict[str, Any] = {"integrations": {"frameworks": ["batch/job", "statefulset", LWS]}}
QUEUE = "kueue.x-k8s.io/queue-name"
URGENT = {"kueue.x-k8s.io/priority-class": "high"}
_KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CONTAINER = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}


def definition(resource: Resource) -> Wire:
    """Return a definition that keeps every field; also where a server has the kind built in."""
    schema = {"type": "object", "properties": {"spec": _KEPT, "status": _KEPT}}
    version = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"kind": resource.kind, "plural": resource.plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced",
            "versions": [version],
        },
    }


@asynccontextmanager
async def serving(world: MakeWorld, cpu: str) -> AsyncIterator[World]:
    """Yield a world with the two kinds and their controllers."""
    async with world(**ON) as w, acting(w.client):
        await define(w)
        await w.make(*setup(cpu))
        yield w


async def define(w: World) -> None:
    for resource in (STATEFUL_SETS, LEADER_WORKER_SETS):
        await w.client.create(CUSTOM_RESOURCE_DEFINITIONS.within(), definition(resource))


def marked(framework: str, thing: Wire) -> Wire:
    """Return an object as policies leave it."""
    through = kind_of(framework).spec.suspend.through_pods
    assert isinstance(through, ThroughPods)
    patch = program_of(marking(through), OF_MUTATIONS)(bound({}, thing))
    found: Wire = jsonpatch.apply_patch(thing, patch)
    return found


def thing(resource: Resource, spec: Wire) -> Wire:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": "web", "namespace": "team", "labels": {QUEUE: "lq"}},
        "spec": spec,
    }


def stateful_set(replicas: int) -> Wire:
    return marked("statefulset", thing(STATEFUL_SETS, {"replicas": replicas, "template": TEMPLATE}))


def leader_worker_set(replicas: int) -> Wire:
    groups = {"leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE, "size": 2}
    return marked(
        LWS, thing(LEADER_WORKER_SETS, {"replicas": replicas, "leaderWorkerTemplate": groups})
    )


async def scale(w: World, resource: Resource, replicas: int) -> None:
    await w.client.patch_merge(resource.at("web", "team"), {"spec": {"replicas": replicas}})


async def pods(w: World) -> dict[str, Wire]:
    reply = await w.client.list_page(PODS.within("team"))
    return {one["metadata"]["name"]: one for one in msgspec.json.decode(reply)["items"]}


async def workload(w: World, start: str, holds: Callable[[Wire], bool] = lambda _: True) -> Wire:
    """Wait for the Workload whose name begins so."""
    (name,) = [
        one["metadata"]["name"]
        for one in await w.list("Workload")
        if one["metadata"]["name"].startswith(start)
    ]
    return await w.until("Workload", name, holds)


async def until_marked(w: World, name: str) -> None:
    """Wait until a pod has the marks of its group."""
    group = "kueue.x-k8s.io/pod-group-name"
    await w.until("Pod", name, lambda one: group in one["metadata"]["annotations"])


def held(one: Wire) -> bool:
    return true("QuotaReserved")(one)


async def test_a_stateful_set_runs_is_preempted_and_comes_back_with_its_workload(
    world: MakeWorld,
) -> None:
    async with serving(world, "3") as w:
        await w.client.create(STATEFUL_SETS.within("team"), stateful_set(3))
        for number in range(3):
            await w.until("Pod", f"web-{number}", phase("Running"))
        found = await workload(w, "statefulset-web-", true("PodsReady"))
        (pod_set,) = found["spec"]["podSets"]
        assert (pod_set["name"], pod_set["count"]) == ("main", 3)
        assert "metadata" not in pod_set["template"]
        owners = found["metadata"]["ownerReferences"]
        assert not any(one.get("controller") for one in owners)
        assert sorted(one["kind"] for one in owners) == ["Pod", "Pod", "Pod", "StatefulSet"]
        notes = (await w.get("Pod", "web-0"))["metadata"]["annotations"]
        assert notes["kueue.x-k8s.io/pod-group-name"] == found["metadata"]["name"]
        assert notes["kueue.x-k8s.io/pod-group-total-count"] == "3"
        assert notes["kueue.x-k8s.io/role-hash"] == "main"

        await w.make(job("urgent", cpu="2", labels=URGENT))
        evicted = await workload(w, "statefulset-web-", true("Evicted", "Preempted"))
        assert evicted["metadata"]["uid"] == found["metadata"]["uid"]
        await w.until("Job", "urgent", lambda one: not one["spec"]["suspend"])
        for number in range(3):
            await w.until("Pod", f"web-{number}", gated)
        await w.delete("Job", "urgent")
        for number in range(3):
            await w.until("Pod", f"web-{number}", phase("Running"))


async def test_a_stateful_set_without_replicas_is_on_hold(world: MakeWorld) -> None:
    async with serving(world, "3") as w:
        await w.client.create(STATEFUL_SETS.within("team"), stateful_set(3))
        for number in range(3):
            await w.until("Pod", f"web-{number}", phase("Running"))
        await scale(w, STATEFUL_SETS, 0)
        on_hold = await workload(w, "statefulset-web-", false("QuotaReserved", "OnHold"))
        assert not await pods(w)
        assert "admission" not in on_hold["status"]
        await w.make(job("meanwhile", cpu="3", seconds=1))
        await w.workload("meanwhile", true("Finished"))

        await scale(w, STATEFUL_SETS, 2)
        again = await workload(w, "statefulset-web-", held)
        assert again["metadata"]["uid"] == on_hold["metadata"]["uid"]
        assert again["spec"]["podSets"][0]["count"] == 2
        for number in range(2):
            await w.until("Pod", f"web-{number}", phase("Running"))

        await w.client.delete(STATEFUL_SETS.at("web", "team"), {"propagationPolicy": "Background"})
        await w.until_gone("Workload", again["metadata"]["name"])


async def test_pods_beyond_what_was_admitted_wait(world: MakeWorld) -> None:
    async with serving(world, "5") as w:
        await w.client.create(STATEFUL_SETS.within("team"), stateful_set(2))
        for number in range(2):
            await w.until("Pod", f"web-{number}", phase("Running"))
        await scale(w, STATEFUL_SETS, 3)
        await w.until("Pod", "web-2", gated)
        await w.make(job("after", seconds=1))
        await w.workload("after", true("Finished"))
        assert gated(await w.get("Pod", "web-2"))
        assert held(await workload(w, "statefulset-web-"))
        await scale(w, STATEFUL_SETS, 2)
        await w.until_gone("Pod", "web-2")
        assert held(await workload(w, "statefulset-web-"))


async def test_a_pod_that_calls_itself_one_of_a_stateful_set_waits_and_disturbs_none(
    world: MakeWorld,
) -> None:
    async with serving(world, "9") as w:
        await w.client.create(STATEFUL_SETS.within("team"), stateful_set(2))
        await until_marked(w, "web-0")
        group = (await w.get("Pod", "web-0"))["metadata"]["annotations"]
        notes = {name: value for name, value in group.items() if name.startswith("kueue")}
        larger = pod("larger", "7", annotations=notes, finalizers=())
        await w.make(larger)
        for number in range(2):
            await w.until("Pod", f"web-{number}", phase("Running"))
        await w.event("Pod larger waits: it asks for more than pod set 'main'")
        assert gated(await w.get("Pod", "larger"))
        await workload(w, "statefulset-web-", true("PodsReady"))


async def test_pods_that_an_update_is_about_to_replace_do_not_hold_it_up(
    world: MakeWorld,
) -> None:
    async with serving(world, "0") as w:
        await w.client.create(STATEFUL_SETS.within("team"), stateful_set(1))
        await until_marked(w, "web-0")
        status = {"currentRevision": FIRST, "updateRevision": FIRST}
        target = STATEFUL_SETS.at("web", "team", "status")
        await w.client.patch_merge(target, {"status": status})
        await w.make(job("after", cpu="0", seconds=1))
        await w.workload("after", true("Finished"))
        assert gated(await w.get("Pod", "web-0"))
        let_go = asyncio.Event()

        def changed(_: object, event: WatchEvent) -> None:
            if event.after["metadata"]["name"] == "web-0" and not gated(event.after):
                let_go.set()  # without quota it is deleted at once

        w.server.store.on_change(changed)
        await asyncio.sleep(60)  # until nothing else has it looked at
        await w.client.patch_merge(target, {"status": {"updateRevision": "web-2"}})
        async with asyncio.timeout(WAIT_S):
            await let_go.wait()
        assert not held(await workload(w, "statefulset-web-"))


async def test_pods_of_a_group_are_let_go_by_the_update_of_the_stateful_set_that_made_them(
    world: MakeWorld,
) -> None:
    async with world(**ON) as w:
        await define(w)
        await w.make(*setup("0"))
        below = thing(STATEFUL_SETS, {"template": TEMPLATE})
        below["metadata"]["labels"] = {f"{OF_LWS}/name": "web"}
        made = msgspec.json.decode(await w.client.create(STATEFUL_SETS.within("team"), below))
        groups = leader_worker_set(1)
        await w.client.create(LEADER_WORKER_SETS.within("team"), groups)
        leader = next(of_groups({**groups, "metadata": made["metadata"]}))
        (above,) = leader["metadata"]["ownerReferences"]
        above |= {key: made[key] for key in ("apiVersion", "kind")}
        await w.client.create(PODS.within("team"), leader)
        await until_marked(w, "web-0")
        target = STATEFUL_SETS.at("web", "team", "status")
        status = {"currentRevision": FIRST, "updateRevision": FIRST}
        await w.client.patch_merge(target, {"status": status})
        await w.make(job("after", cpu="0", seconds=1))
        await w.workload("after", true("Finished"))
        assert gated(await w.get("Pod", "web-0"))
        await w.client.patch_merge(target, {"status": {"updateRevision": "web-2"}})
        await w.until_gone("Pod", "web-0")  # it runs without quota, until it is replaced
        assert not held(await workload(w, "leaderworkerset-web-0-"))


async def test_each_group_of_a_leader_worker_set_is_admitted_by_itself(world: MakeWorld) -> None:
    async with serving(world, "4") as w:
        await w.client.create(LEADER_WORKER_SETS.within("team"), leader_worker_set(2))
        for name in ("web-0", "web-0-1", "web-1", "web-1-1"):
            await w.until("Pod", name, phase("Running"))
        first = await workload(w, "leaderworkerset-web-0-", true("PodsReady"))
        second = await workload(w, "leaderworkerset-web-1-", true("PodsReady"))
        counts = {one["name"]: one["count"] for one in first["spec"]["podSets"]}
        assert counts == {"leader": 1, "worker": 1}
        assert first["metadata"]["annotations"]["kueue.x-k8s.io/component-workload-index"] == "0"
        roles = [
            (await w.get("Pod", name))["metadata"]["annotations"]["kueue.x-k8s.io/role-hash"]
            for name in ("web-0", "web-0-1")
        ]
        assert roles == ["leader", "worker"]

        await scale(w, LEADER_WORKER_SETS, 3)
        await w.until("Pod", "web-2", gated)
        third = await workload(w, "leaderworkerset-web-2-", false("QuotaReserved"))

        await scale(w, LEADER_WORKER_SETS, 1)
        await w.until_gone("Workload", third["metadata"]["name"])
        await w.until_gone("Workload", second["metadata"]["name"])
        await w.until_gone("Pod", "web-1")
        await w.make(job("meanwhile", cpu="2", seconds=1))
        await w.workload("meanwhile", true("Finished"))
        assert (await w.get("Pod", "web-0"))["status"]["phase"] == "Running"

        await w.client.delete(
            LEADER_WORKER_SETS.at("web", "team"), {"propagationPolicy": "Background"}
        )
        await w.until_gone("Workload", first["metadata"]["name"])


async def test_a_preempted_group_of_a_leader_worker_set_leaves_the_others_alone(
    world: MakeWorld,
) -> None:
    async with serving(world, "4") as w:
        await w.client.create(LEADER_WORKER_SETS.within("team"), leader_worker_set(2))
        for name in ("web-0", "web-1"):
            await w.until("Pod", name, phase("Running"))
        await w.make(job("urgent", cpu="2", labels=URGENT))
        await w.until("Job", "urgent", lambda one: not one["spec"]["suspend"])
        running = {
            name
            for name, one in (await pods(w)).items()
            if phase("Running")(one) and not deleting(one) and name.startswith("web")
        }
        assert running in ({"web-0", "web-0-1"}, {"web-1", "web-1-1"})
