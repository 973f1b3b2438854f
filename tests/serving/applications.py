"""An application served on loopback for a test, and answers of those beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web


@asynccontextmanager
async def served(application: web.Application) -> AsyncIterator[tuple[ClientSession, str]]:
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with ClientSession() as session:
            yield session, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def everybody(_request: web.Request) -> bool:
    return True


async def nobody(_request: web.Request) -> bool:
    return False


async def no_leader(_request: web.Request) -> web.Response | None:
    return None
