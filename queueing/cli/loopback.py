"""A port on loopback on which an application answers for as long as a block runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

HOST = "127.0.0.1"
CLOSE_S = 1.0
"""How long requests may go on that are open when the block ends."""


@asynccontextmanager
async def on_loopback(
    application: web.Application, port: int = 0, *, close_s: float = CLOSE_S
) -> AsyncIterator[str]:
    """Answer on a port, by default on any that is free, and give its address without a path.

    Raises OSError where the port is taken.
    """
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=close_s)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
