"""Serves `/healthz`, `/livez`, `/readyz` and `/metrics` where there is no serving process."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from queueing.controller.telemetry.reporter import Reporter

_HEALTH = "health.healthProbeBindAddress"
_METRICS = "metrics.bindAddress"

Handler = Callable[[web.Request], Awaitable[web.Response]]


class BadAddressError(ValueError):
    """An address of the Configuration is malformed, or cannot be listened on."""


def address_of(text: str, field: str) -> tuple[str, int] | None:
    """Parse `host:port` of a Configuration field; without a host, listen on all IPv4 addresses.

    None for "" and "0", which mean: do not listen. Raises BadAddressError with the field's name.
    """
    if text in ("", "0"):
        return None
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004 - TCP
        raise BadAddressError(f"{field}: {text!r} is not host:port")
    return host.strip("[]") or "0.0.0.0", int(port)


@asynccontextmanager
async def listening(reporter: Reporter, *, health: str, scrape: str) -> AsyncIterator[None]:
    """Serve the probes at `health` and the metrics at `scrape` while inside the context.

    Raises BadAddressError.
    """

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def ready(_: web.Request) -> web.Response:
        text = (
            "ok"
            if reporter.readiness.ready
            else "the API server does not answer as our policies say yet"
        )
        return web.Response(text=text, status=200 if reporter.readiness.ready else 503)

    async def exposition(request: web.Request) -> web.Response:
        found = await reporter.expose(request.headers.get("Accept", ""))
        return web.Response(body=found.body, headers={"Content-Type": found.content_type})

    async with AsyncExitStack() as stack:
        probes: Mapping[str, Handler] = {"/healthz": alive, "/livez": alive, "/readyz": ready}
        place = address_of(health, _HEALTH)
        if place is not None:
            await stack.enter_async_context(_site(probes, place, _HEALTH))
        place = address_of(scrape, _METRICS)
        if place is not None:
            await stack.enter_async_context(_site({"/metrics": exposition}, place, _METRICS))
        yield


@asynccontextmanager
async def _site(
    handlers: Mapping[str, Handler], place: tuple[str, int], field: str
) -> AsyncIterator[None]:
    app = web.Application()
    for path, handler in handlers.items():
        app.router.add_get(path, handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, *place).start()
        except OSError as error:
            where = f"{place[0]}:{place[1]}"
            raise BadAddressError(f"{field}: cannot listen on {where}: {error.strerror}") from error
        yield
    finally:
        await runner.cleanup()
