"""A little server that runs "commands" as a kubelet does, over the `exec` subresource of pods."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from queueing.kube.execution import PROTOCOL

Behave = Callable[[web.Request, web.WebSocketResponse], Awaitable[None]]
SUCCESS = b'\x03{"metadata":{},"status":"Success"}'


def failure(code: int) -> bytes:
    """Spell the frame that ends a command with another code than 0."""
    cause = {"reason": "ExitCode", "message": str(code)}
    status = {
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [cause]},
    }
    return b"\x03" + json.dumps(status).encode()


def says(*frames: bytes) -> Behave:
    """Return the behaviour of a command that sends these frames and is done."""

    async def behave(_: web.Request, socket: web.WebSocketResponse) -> None:
        for frame in frames:
            await socket.send_bytes(frame)

    return behave


async def attend(request: web.Request, behave: Behave) -> web.StreamResponse:
    """Answer a call of `exec`."""
    socket = web.WebSocketResponse(protocols=(PROTOCOL,))
    await socket.prepare(request)
    await behave(request, socket)
    await socket.close()
    return socket


@asynccontextmanager
async def listening(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> AsyncIterator[str]:
    """Serve every path with one handler; give the URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
