"""An API server that does as it is told: each request is answered by the next step of a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from blockbuster import blockbuster_ctx

from queueing.kube.client import Client
from queueing.kube.config import Cluster

Step = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class ScriptedServer:
    """`script` is used up from the front; after its end `otherwise` answers."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    script: list[Step] = field(default_factory=list)
    otherwise: Step | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = dict(request.headers)
        self.seen.append(Seen(request.method, request.path, dict(request.query), headers, body))
        self.news.set()
        step = self.script.pop(0) if self.script else self.otherwise or self.hang()
        return await step(request)

    def reply(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> Step:
        text = body if isinstance(body, bytes) else json.dumps(body or {}).encode()

        async def step(_: web.Request) -> web.StreamResponse:
            return web.Response(status=status, body=text, headers=headers)

        return step

    def refuse(self, code: int, reason: str = "", message: str = "no", **details: Any) -> Step:
        body = {"kind": "Status", "code": code, "reason": reason, "message": message}
        return self.reply(code, {**body, "details": details})

    def reset(self) -> Step:
        async def step(request: web.Request) -> web.StreamResponse:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()

        return step

    def hang(self) -> Step:
        async def step(_: web.Request) -> web.StreamResponse:
            await self.release.wait()
            return web.Response(status=503)

        return step

    def stream(self, chunks: Sequence[bytes], then: Step | None = None) -> Step:
        """Send the chunks one by one, then end the reply, or do `then`."""

        async def step(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            for chunk in chunks:
                await response.write(chunk)
                await asyncio.sleep(0)
            if then is not None:
                await then(request)
            return response

        return step

    async def wait_for(self, count: int) -> None:
        """Wait until `count` requests have come."""
        async with asyncio.timeout(20):
            while len(self.seen) < count:
                self.news.clear()
                await self.news.wait()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer()
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", scripted.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    scripted.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield scripted
    scripted.release.set()
    await runner.cleanup()


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(Cluster.plain(server.url), "queueing/test", "queueing-test") as opened:
        yield opened


@pytest.fixture
def nothing_blocks() -> Iterator[None]:
    """Fail a test whose event loop is held up by a blocking call."""
    with blockbuster_ctx():
        yield
