"""Claims that outlive the rules by which they were made: who takes over still minds them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.app import App, Options
from queueing.kube.config import Cluster
from queueing_api.config.load import from_document
from tests.controller.harness import (
    CONFIGURATION,
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    false,
    job,
    true,
)

ELSEWHERE: Wire = {"leaderElection": {"leaderElect": True}, "namespace": "elsewhere"}
"""The world's own controller competes for a lease in a namespace that is not there."""


@asynccontextmanager
async def term(w: World) -> AsyncIterator[None]:
    """Lead for as long as the block runs."""
    options = Options(
        configuration=from_document(CONFIGURATION),
        cluster=Cluster.plain(w.server.url),
        environment={},
    )
    async with asyncio.TaskGroup() as group:
        leading = group.create_task(App(options, w.client, w.clock).run())
        yield
        leading.cancel()


def claim(workload: Wire) -> Wire:
    """Return the claim of a pod of a Workload, which is in use as long as it is allocated."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": "held",
            "namespace": "team",
            "labels": {"queueing.dev/workload-uid": workload["metadata"]["uid"]},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p"}],
            "finalizers": ["resource.kubernetes.io/delete-protection"],
        },
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
    }


def holds_quota(one: Wire) -> bool:
    return true("QuotaReserved")(one) and bool(one["status"].get("admission"))


async def test_quota_waits_for_claims_also_when_nobody_has_rules_of_devices_any_more(
    world: MakeWorld,
) -> None:
    watched: list[str] = []

    async def watch(call: HttpRequest) -> Fault | None:
        if call.flag("watch"):
            watched.append(call.path.rpartition("/")[2])
        return None

    async with world(intercept=watch, **ELSEWHERE) as w:
        await w.make(FLAVOR, cluster_queue("3"), LOCAL_QUEUE, job("a", seconds=60_000))
        async with term(w):
            admitted = await w.workload("a", true("Admitted"))
        assert "jobs" in watched
        assert not {"resourceclaims", "resourceclaimtemplates", "resourceslices"} & {*watched}
        await w.make(claim(admitted))
        result = {"request": "gpu", "driver": "d", "pool": "n", "device": "gpu-0"}
        allocated = {"status": {"allocation": {"devices": {"results": [result]}}}}
        await w.patch("ResourceClaim", "held", allocated, "status")
        async with term(w):
            await w.patch("Workload", admitted["metadata"]["name"], {"spec": {"active": False}})
            await w.until("Job", "a", lambda one: bool(one["spec"]["suspend"]))
            await w.make(job("b", seconds=1))
            await w.workload("b", true("Finished"))
            assert holds_quota(await w.workload("a", true("Evicted")))
            await w.patch("ResourceClaim", "held", {"status": {"allocation": None}}, "status")
            assert not holds_quota(await w.workload("a", false("QuotaReserved")))


@pytest.mark.parametrize(
    ("status", "watches"),
    [
        pytest.param(404, False, id="a server that has no claims"),
        pytest.param(403, False, id="claims that may not be read"),
        pytest.param(503, True, id="a server that cannot say"),
    ],
)
async def test_what_cannot_be_found_out_is_watched(
    world: MakeWorld, status: int, *, watches: bool
) -> None:
    watched: list[str] = []

    async def answer(call: HttpRequest) -> Fault | None:
        name = call.path.rpartition("/")[2]
        if call.flag("watch"):
            watched.append(name)
        elif name.startswith("resourceclaim") and "labelSelector" in call.query:
            return Fault(status=status)
        return None

    async with world(intercept=answer) as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a"))
        await w.workload("a", true("Admitted"))
        if watches:
            async with asyncio.timeout(30):
                while "resourceclaims" not in watched:
                    await asyncio.sleep(0.02)
        assert ("resourceclaims" in watched) is watches
