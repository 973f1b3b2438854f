"""What scenarios on a control plane share: a client, the product, and a count of its writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from e2e import identities, product
from e2e.cluster import Cluster
from e2e.writes import AuditLog
from queueing.kube.client import Client
from queueing.kube.config import load_cluster

LIMIT_S = 900.0
_ACCOUNT = f"{identities.CONTROLLER_NAMESPACE}:{identities.CONTROLLER_ACCOUNT}"
USER = f"system:serviceaccount:{_ACCOUNT}"


@asynccontextmanager
async def client_of(cluster: Cluster) -> AsyncIterator[Client]:
    """Lend a client with all rights."""
    where = await load_cluster(str(cluster.kubeconfig(identities.ADMIN)))
    async with Client(where, user_agent="bench") as client:
        yield client


@asynccontextmanager
async def running_product(cluster: Cluster) -> AsyncIterator[None]:
    """Run one replica, from when it is ready until it has ended."""
    controller = await asyncio.to_thread(product.start, cluster, "bench")
    try:
        await asyncio.to_thread(controller.wait_ready)
        yield
    finally:
        await asyncio.to_thread(controller.stop)


def log_of(cluster: Cluster) -> AuditLog | None:
    """Count writes from now on, where the server's audit log is ours to read."""
    return AuditLog(cluster.audit_log) if cluster.audit_log else None
