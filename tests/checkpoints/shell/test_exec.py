"""Commands that save in containers: pods are simulated, the command is played by a server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from queueing.apiserver.server import serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.checkpoints.rules.terms import USUAL_DRIVERS, Driver
from queueing.checkpoints.shell.drivers.exec_driver import expanded
from queueing.controller.app import App, Options
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing_api.config.load import from_document
from tests.checkpoints.shell.save_harness import checkpoint, objects, phase, policy, saving, urgent
from tests.controller.harness import (
    CLOCK,
    CONFIGURATION,
    NODE,
    Wire,
    World,
    another_clock,
    define,
    true,
)
from tests.kube.kubelet import SUCCESS, Behave, attend, failure, listening, says


def forwarding(url: str, behave: Behave) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return a handler that runs commands itself and passes all else on to a server."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/exec"):
            return await attend(request, behave)
        body, headers = await request.read(), dict(request.headers)
        async with (
            aiohttp.ClientSession(
                auto_decompress=False, timeout=aiohttp.ClientTimeout()
            ) as session,
            session.request(
                request.method, f"{url}{request.path_qs}", data=body or None, headers=headers
            ) as reply,
        ):
            made = web.StreamResponse(status=reply.status)
            made.content_type = reply.content_type
            await made.prepare(request)
            async for chunk in reply.content.iter_any():
                await made.write(chunk)
            return made

    return handler


@asynccontextmanager
async def world(definitions: list[Wire], behave: Behave) -> AsyncIterator[World]:
    options = Options(
        configuration=from_document(CONFIGURATION),
        drivers=USUAL_DRIVERS | {Driver.EXEC},
        environment={},
    )
    async with (
        serve(clock=CLOCK.now) as server,
        simulate(server.store, nodes=[NODE], speed=20.0, clock=another_clock),
    ):
        define(server, definitions)
        meta = {"name": "team"}
        server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": meta}])
        async with (
            listening(forwarding(server.url, behave)) as url,
            Client(Cluster.plain(url)) as client,
            asyncio.TaskGroup() as group,
        ):
            running = group.create_task(App(options, client, CLOCK).run())
            yield World(server, client)
            running.cancel()


async def preempted(at: World, **terms: Any) -> None:
    """Have a training Job preempted whose policy runs a command."""
    command = {"command": ["save", "--for", "$(QUEUEING_CHECKPOINT_JOBS)"]}
    await at.make(*objects(driver="Exec", exec=command, **terms), saving())
    await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
    await at.make(urgent())


async def test_a_command_saves_and_the_last_line_of_its_output_says_what(
    definitions: list[Wire],
) -> None:
    asked: list[list[str]] = []

    async def behave(request: web.Request, socket: web.WebSocketResponse) -> None:
        asked.append(request.query.getall("command"))
        await says(b"\x01saving\n", b'\x01{"uri": "/data/5", "step": 5}\n', SUCCESS)(
            request, socket
        )

    async with world(definitions, behave) as at:
        await preempted(at)
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["uri"] == "/data/5"
        assert found["status"]["checkpoint"]["step"] == 5
        assert asked == [["save", "--for", "train"]]
        await at.workload("urgent", true("Admitted"))


async def hang(_: web.Request, __: web.WebSocketResponse) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("behave", "terms", "said"),
    [
        pytest.param(says(b"\x02disk full", failure(28)), {}, "code 28: disk full", id="it fails"),
        pytest.param(says(b"\x01s3://half"), {}, "broke", id="the connection breaks"),
        pytest.param(hang, {"saveDeadline": "1s", "heartbeat": "1s"}, "", id="it hangs"),
    ],
)
async def test_a_command_that_does_not_save_blocks_nobody(
    definitions: list[Wire], behave: Behave, terms: Wire, said: str
) -> None:
    async with world(definitions, behave) as at:
        await preempted(at, **terms)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Failed"
        assert said in found["status"]["message"]


async def test_a_command_that_takes_long_is_waited_for(definitions: list[Wire]) -> None:
    done = asyncio.Event()

    async def behave(request: web.Request, socket: web.WebSocketResponse) -> None:
        await done.wait()
        await says(SUCCESS)(request, socket)

    async with world(definitions, behave) as at:
        await at.make(policy("another"))
        await preempted(at, heartbeat="2s")
        await checkpoint(at, phase("Saving"))
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
        done.set()
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"


def test_what_is_not_known_stays_as_it_is_written() -> None:
    told = {"QUEUEING_CHECKPOINT_REQUEST": "r"}
    words = ["$(QUEUEING_CHECKPOINT_REQUEST)/x", "$(HOME)", "$HOME"]
    assert expanded(words, told) == ("r/x", "$(HOME)", "$HOME")
