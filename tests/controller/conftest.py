import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from queueing.apiserver.server import Intercept, serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.controller.app import App, Options
from queueing.core.settings import Compatibility
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.testing.virtual_time import VirtualLoop
from queueing_api.config.load import from_document
from tests.controller.direct import DirectClient
from tests.controller.harness import (
    CLOCK,
    CONFIGURATION,
    NODE,
    MakeWorld,
    Wire,
    World,
    another_clock,
    define,
    stored_definitions,
)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Have time pass only while a world waits, unless it speaks over connections."""
    return {"virtual": VirtualLoop}


@pytest.fixture(scope="session")
def definitions() -> list[Wire]:
    return stored_definitions()


@pytest.fixture
def world(definitions: list[Wire]) -> MakeWorld:
    """Return an async context manager of a World; keyword arguments are of the Configuration.

    With `http` the controller speaks over connections.
    """

    @asynccontextmanager
    async def make(
        intercept: Intercept | None = None,
        environment: Mapping[str, str] | None = None,
        serving_socket: Path | None = None,
        compatibility: Compatibility = Compatibility.QUEUEING,
        *,
        http: bool = False,
        **configuration: Any,
    ) -> AsyncIterator[World]:
        options = Options(
            configuration=from_document({**CONFIGURATION, **configuration}),
            compatibility=compatibility,
            environment=environment or {},
            serving_socket=serving_socket,
        )
        async with (
            serve(intercept=intercept, clock=CLOCK.now) as server,
            simulate(server.store, nodes=[NODE], speed=20.0, clock=another_clock),
        ):
            define(server, definitions)
            server.load(
                [
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                    for name in ("team", "other", "kueue-system")
                ]
            )
            cluster = Cluster.plain(server.url)
            reached = Client(cluster) if http else DirectClient(server)
            async with reached as client, asyncio.TaskGroup() as group:
                app = App(options, client, CLOCK)
                running = group.create_task(app.run())
                yield World(server, client)
                running.cancel()

    return make
