"""What gives quota carries the finalizer before it gives any."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from queueing.core.settings import Compatibility
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    job,
    true,
)

HELD = "kueue.x-k8s.io/resource-in-use"
CONFLICT = Fault(status=409, reason="Conflict", message="the object has been modified")
TOO_LATE = Fault(status=503)
LOST = Fault(drop=True, after=True)


def holds(one: Wire) -> bool:
    return HELD in one["metadata"].get("finalizers", [])


class Watching:
    """Lets so many writes of finalizers fail, and looks what is held when quota is given out."""

    def __init__(self, fault: Fault, times: int) -> None:
        self.fault, self.left = fault, times
        self.world: World | None = None
        self.held: list[bool] = []

    async def __call__(self, call: HttpRequest) -> Fault | None:
        if call.method != "PATCH":
            return None
        body = json.loads(call.body)
        if "/workloads/" in call.path and (body.get("status") or {}).get("admission"):
            assert self.world is not None
            found = [
                await self.world.get("ClusterQueue", "cq"),
                await self.world.get("ResourceFlavor", "default"),
            ]
            self.held += map(holds, found)
        if "finalizers" not in body.get("metadata", {}) or "/workloads/" in call.path:
            return None
        self.left -= 1
        return self.fault if self.left >= 0 else None


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        pytest.param(CONFLICT, 3, id="somebody else writes it at the same time"),
        pytest.param(TOO_LATE, 3, id="the server has no time for it"),
        pytest.param(LOST, 2, id="the answer is lost"),
    ],
)
async def test_quota_is_given_out_of_what_is_held_only(
    world: MakeWorld, fault: Fault, times: int
) -> None:
    watching = Watching(fault, times)
    async with world(intercept=watching, http=True) as w:
        watching.world = w
        await w.make(job("a"), LOCAL_QUEUE, FLAVOR, cluster_queue())
        await w.workload("a", true("Admitted"))
    assert watching.left <= 0
    assert watching.held
    assert all(watching.held)


def refusing(*paths: str) -> Callable[[HttpRequest], Awaitable[Fault | None]]:
    async def intercept(call: HttpRequest) -> Fault | None:
        ours = call.method == "PATCH" and any(call.path.endswith(one) for one in paths)
        return Fault(status=422, reason="Invalid") if ours else None

    return intercept


async def test_who_may_not_hold_admits_all_the_same(
    world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(intercept=refusing("/clusterqueues/cq", "/resourceflavors/default")) as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a"))
        await w.workload("a", true("Admitted"))
    assert "can go while it is used" in caplog.text


async def test_first_admissions_of_several_queues_do_not_wait_for_each_other(
    world: MakeWorld,
) -> None:
    names = ("a", "b", "c")
    waiting, all_there = set[str](), asyncio.Event()

    async def together(call: HttpRequest) -> Fault | None:
        """Let nobody put the finalizer on a queue before all are about to."""
        body = json.loads(call.body) if call.method == "PATCH" else {}
        if "/clusterqueues/" in call.path and "finalizers" in body.get("metadata", {}):
            waiting.add(call.path)
            if len(waiting) == len(names):
                all_there.set()
            await all_there.wait()
        return None

    async with world(intercept=together) as w:
        for name in names:
            queue = {**cluster_queue(), "metadata": {"name": name}}
            place = {"name": name, "namespace": "team"}
            door = {**LOCAL_QUEUE, "metadata": place, "spec": {"clusterQueue": name}}
            labels = {"kueue.x-k8s.io/queue-name": name}
            await w.make(queue, door, job(name, labels=labels))
        await w.make(FLAVOR)
        for name in names:
            await w.workload(name, true("Admitted"))
    assert all_there.is_set()


@pytest.mark.parametrize(
    ("mode", "kept"),
    [(Compatibility.QUEUEING, {"dc", "link"}), (Compatibility.KUEUE, {"dc"})],
)
async def test_topologies_that_a_flavor_names_are_kept_when_they_are_deleted(
    world: MakeWorld, mode: Compatibility, kept: set[str]
) -> None:
    """In Kueue mode our annotation names none."""
    annotations = {"queueing.dev/nearer-topologies": "absent, link"}
    flavor = {
        **FLAVOR,
        "metadata": {**FLAVOR["metadata"], "annotations": annotations},
        "spec": {**FLAVOR["spec"], "topologyName": "dc"},
    }
    async with world(compatibility=mode) as w:
        names = {"dc", "link", "other"}
        await w.make(*map(topology, sorted(names)), flavor)
        for name in names:
            await w.until("Topology", name, holds)
        for name in names:
            await w.delete("Topology", name)
        for name in names - kept:
            await w.until_gone("Topology", name)
        for name in kept:
            found = await w.get("Topology", name)
            assert holds(found)
            assert "deletionTimestamp" in found["metadata"]


def topology(name: str) -> Wire:
    levels = [{"nodeLabel": f"{name}/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": name},
        "spec": {"levels": levels},
    }
