"""What scenarios on a control plane share: a client, queues, the product, a count of its writes."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from bench.load import Load, queues, racks
from bench.submitters import FLOOR_CLIENTS, Wire, in_parallel
from e2e import identities, product
from e2e.cluster import Cluster
from e2e.nodes import make_node, wait_usable
from e2e.writes import AuditLog
from queueing.kube import resources
from queueing.kube.client import Client, ListQuery, Request
from queueing.kube.config import load_cluster

LIMIT_S = 900.0
PATIENCE_S = 60.0
FLOOR_SPACE = "floor"
SETTLES_S = 4.0
"""New definitions and policies keep the API server busy for a while: neither side's burst pays."""
SETTLED_AFTER_MAX_S = 180.0
WATCHED_AFTER_MAX_S = 120.0
DELETED_AT_ONCE = 100
_WATCHES = re.compile(
    r'^apiserver_longrunning_requests\{[^}]*resource="workloads"[^}]*verb="WATCH"[^}]*\} [1-9]',
    re.MULTILINE,
)
_SETUP = {
    one.kind: one
    for one in (
        resources.TOPOLOGIES,
        resources.RESOURCE_FLAVORS,
        resources.CLUSTER_QUEUES,
        resources.LOCAL_QUEUES,
    )
}
_ACCOUNT = f"{identities.CONTROLLER_NAMESPACE}:{identities.CONTROLLER_ACCOUNT}"
USER = f"system:serviceaccount:{_ACCOUNT}"


@asynccontextmanager
async def client_of(cluster: Cluster) -> AsyncIterator[Client]:
    """Lend a client with all rights, and with patience: how slow the server is, is measured."""
    where = await load_cluster(str(cluster.kubeconfig(identities.ADMIN)))
    async with Client(where, user_agent="bench", write_timeout_s=PATIENCE_S) as client:
        yield client


@asynccontextmanager
async def running_product(
    cluster: Cluster,
    ours: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[product.Controller]:
    """Run one replica, from when it is ready until it has ended.

    `ours` is what its file of our own says, `settings` what Kueue's does.
    """
    controller = await asyncio.to_thread(product.start, cluster, "bench", settings, ours=ours)
    try:
        await asyncio.to_thread(controller.wait_ready)
        yield controller
    finally:
        await asyncio.to_thread(controller.stop)


def log_of(cluster: Cluster) -> AuditLog | None:
    """Count writes from now on, where the server's audit log is ours to read."""
    return AuditLog(cluster.audit_log) if cluster.audit_log else None


async def furnished(cluster: Cluster, client: Client, wanted: Load) -> None:
    """Create the queues and nodes of a load, and wait until the API server is at rest again."""
    if wanted.places:
        await asyncio.to_thread(_make_nodes, cluster)
    await in_parallel((partial(_create, client, one) for one in queues(wanted)), FLOOR_CLIENTS)
    await _watched_by_kubernetes(cluster)
    await asyncio.sleep(SETTLES_S)


def _make_nodes(cluster: Cluster) -> None:
    api, named = cluster.api(), dict(racks())
    for name, labels in named.items():
        make_node(api, name, group="racks", resources={"cpu": "96"}, labels=labels)
    wait_usable(api, len(named), group="racks")


async def _create(client: Client, wanted: Wire) -> None:
    where = _SETUP[wanted["kind"]].within(wanted["metadata"].get("namespace", ""))
    await client.create(where, wanted)


async def _watched_by_kubernetes(cluster: Cluster) -> None:
    """Wait until the garbage collector watches Workloads, as it does in every cluster.

    It finds a new kind within half a minute. What its watch costs the API server both sides pay.
    """
    async with asyncio.timeout(WATCHED_AFTER_MAX_S):
        while True:
            told = await asyncio.to_thread(cluster.kubectl, "get", "--raw", "/metrics")
            if _WATCHES.search(told.stdout):
                return
            await asyncio.sleep(1.0)


async def emptied(client: Client, space: str) -> None:
    """Delete the Workloads of an earlier run: the more there are, the more each write costs."""
    where = resources.WORKLOADS.within(space)
    query = ListQuery(limit=DELETED_AT_ONCE).parameters()
    while msgspec.json.decode(await client.list_page(where), type=_Page).items:
        await client.send(Request("DELETE", where.path, query))


class _Page(msgspec.Struct):
    items: list[msgspec.Raw]


async def settled(log: AuditLog | None) -> None:
    """Wait until queueing writes nothing more.

    Before a run: each queue gets a finalizer and a status once. After it: Events and whatever else
    waits until the API server is at rest are counted as well.
    """
    known, patient_until = -1, time.monotonic() + SETTLED_AFTER_MAX_S
    while time.monotonic() < patient_until:
        await asyncio.sleep(SETTLES_S)
        writes = log.writes(user=USER) if log else []
        written = sum(one.resource != "leases" for one in writes)
        if written == known:
            return
        known = written
