"""Whoever led is silent before everything is let go of."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.apiserver.server import EmbeddedServer, Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.lease import Lease, LeaseSettings, LeaseTerm
from queueing.kube.lease_record import KubeLeaseStore
from queueing.kube.resources import LEASES, RESOURCE_FLAVORS
from queueing.serving.uninstallation import HOLDER, Uninstallation
from queueing.webhooks.admission import IN_USE

FLAVORS = Path(__file__).parents[2] / "config" / "crd" / "kueue.x-k8s.io_resourceflavors.yaml"
LEASE = LEASES.at("leaders", "kueue-system")
WITHIN_S = 20.0
CLOCK = SystemClock()


@pytest.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    async with serve() as api:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LEASE.namespace}}
        api.load([namespace, yaml.safe_load(FLAVORS.read_text())])
        yield api


@pytest.fixture
async def client(server: EmbeddedServer) -> AsyncIterator[Client]:
    async with Client(Cluster.plain(server.url)) as made:
        yield made


def flavor(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": name, "finalizers": [IN_USE]},
    }


def store(client: Client) -> KubeLeaseStore:
    return KubeLeaseStore(client, LEASE.name, LEASE.namespace)


async def holder(client: Client) -> str:
    found = await store(client).read(WITHIN_S)
    return found.holder if found is not None else ""


async def held(client: Client) -> bool:
    return IN_USE.encode() in await client.list_page(RESOURCE_FLAVORS.within())


async def test_a_leader_stops_before_anything_is_let_go_of(client: Client) -> None:
    leads, ended = asyncio.Event(), asyncio.Event()

    async def lead(_: LeaseTerm) -> None:
        """Take hold again of whatever lost the finalizer, as a leader does."""
        leads.set()
        try:
            while True:
                await client.patch_merge(
                    RESOURCE_FLAVORS.at("any"), {"metadata": {"finalizers": [IN_USE]}}
                )
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    await client.create(RESOURCE_FLAVORS.within(), flavor("any"))
    times = LeaseSettings(
        identity="leader", duration_s=3.0, renew_deadline_s=2.0, retry_s=0.2, write_timeout_s=1.0
    )
    competing = asyncio.create_task(Lease(store(client), times, CLOCK).run(lead))
    async with asyncio.timeout(WITHIN_S):
        await leads.wait()
        leaving = asyncio.create_task(Uninstallation(client, CLOCK, LEASE, noticed_s=3.0)())
        await ended.wait()
        assert not leaving.done(), "it was let go of while somebody led"
        await leaving
    assert not await held(client)
    assert await holder(client) == HOLDER
    competing.cancel()


async def test_a_renewal_in_between_only_makes_it_try_again(
    server: EmbeddedServer, client: Client
) -> None:
    left = [2]

    async def conflict(call: HttpRequest) -> Fault | None:
        if call.method != "PATCH" or "leases" not in call.path or not left[0]:
            return None
        left[0] -= 1
        return Fault(status=409, reason="Conflict")

    lease = {
        "apiVersion": LEASES.api_version,
        "kind": "Lease",
        "metadata": {"name": LEASE.name, "namespace": LEASE.namespace},
        "spec": {"holderIdentity": "leader", "leaseDurationSeconds": 15},
    }
    await client.create(LEASES.within(LEASE.namespace), lease)
    server.intercept = conflict
    await Uninstallation(client, CLOCK, LEASE)()
    assert left == [0]
    assert await holder(client) == HOLDER


@pytest.mark.parametrize(
    "lease",
    [
        pytest.param(None, id="nobody is elected"),
        pytest.param(LEASE, id="nobody was elected yet"),
        pytest.param(LEASES.at("leaders", "no-such-namespace"), id="there is no such place"),
    ],
)
async def test_where_nobody_leads_nobody_is_waited_for(client: Client, lease: Any) -> None:
    await client.create(RESOURCE_FLAVORS.within(), flavor("any"))
    async with asyncio.timeout(WITHIN_S):
        await Uninstallation(client, CLOCK, lease, noticed_s=1000.0)()
    assert not await held(client)


async def test_what_was_made_meanwhile_is_let_go_of_too(
    server: EmbeddedServer, client: Client
) -> None:
    made = asyncio.Event()

    async def queue_of_an_administrator(call: HttpRequest) -> None:
        if call.method == "PATCH" and not made.is_set():
            made.set()
            await client.create(RESOURCE_FLAVORS.within(), flavor("late"))

    await client.create(RESOURCE_FLAVORS.within(), flavor("any"))
    server.intercept = queue_of_an_administrator
    await Uninstallation(client, CLOCK)()
    assert made.is_set()
    assert not await held(client)
