"""The page of a local cluster: served in this process, to everybody who reaches its loopback port.

The embedded API server lets everybody read everything, too, so nobody is asked who they are.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from queueing.apiserver.server import EmbeddedServer
from queueing.cli.loopback import on_loopback
from queueing.cli.production.estimating import estimated
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.estimates import Estimates
from queueing.serving.explanations import BESIDE
from queueing.serving.read_models import ReadModels, listening
from queueing.serving.ui.application import BASE, PageServer
from queueing.serving.ui.entrance import OpenEntrance
from queueing.serving.ui.sources import Sources


@asynccontextmanager
async def local_page(server: EmbeddedServer, socket: Path, port: int = 0) -> AsyncIterator[str]:
    """Serve the page until the block ends, and give its address.

    The controller is asked over the socket, on which it must speak.
    """
    models = ReadModels()
    async with (
        listening(socket, models),
        Client(Cluster.plain(server.url), "queueing-page") as client,
    ):
        application = web.Application()
        sources = Sources(models, client, estimates=Estimates(models, estimated))
        page = PageServer(sources=sources, entrance=OpenEntrance(), now=SystemClock().now)
        page.add_to(application)
        async with on_loopback(application, port) as origin, asyncio.TaskGroup() as group:
            beside = group.create_task(sources.prospects.run(), name="estimates of pages")
            url = f"{origin}{BASE}/"
            server.load([_announcement(url)])
            yield url
            beside.cancel()


def _announcement(url: str) -> dict[str, Any]:
    """Return what tells `queueing ui` where the page is, as this server hands nothing on."""
    name, namespace = BESIDE
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"url": url}}
