"""What the port of `queueing ui` hands on, and to whom it says no."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from queueing.cli.page_forward import application
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.explanations import PAGE


@asynccontextmanager
async def forwarded() -> AsyncIterator[tuple[ClientSession, str]]:
    """Forward to an API server that says what it was asked, and in a stream once more."""

    async def echo(request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            told = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await told.prepare(request)
            for number in range(2):
                await told.write(f"data: {number}\n\n".encode())
            if request.query["watch"] == "broken" and request.transport is not None:
                request.transport.close()
            return told
        text = f"{request.method} {request.rel_url} {request.headers.get('Cookie', '')}"
        headers = {"Content-Security-Policy": "default-src 'none'", "Audit-Id": "1"}
        return web.Response(status=418, text=text, headers=headers)

    server = web.Application()
    server.router.add_route("*", "/{path:.*}", echo)
    async with (
        TestServer(server) as cluster,
        Client(Cluster.plain(f"http://{cluster.host}:{cluster.port}")) as client,
        TestServer(application(client)) as port,
        ClientSession() as session,
    ):
        yield session, f"http://127.0.0.1:{port.port}"


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/ui/", f"GET {PAGE}/ "),
        ("/ui/clusterqueues/a%2Fb?waiting=50", f"GET {PAGE}/clusterqueues/a%2Fb?waiting=50 "),
        ("/", f"GET {PAGE}/ "),
        ("/ui", f"GET {PAGE}/ "),
    ],
)
async def test_what_is_below_the_page_is_handed_on(path: str, want: str) -> None:
    async with (
        forwarded() as (session, base),
        session.get(base + path, headers={"Cookie": "a=b"}) as told,
    ):
        assert (told.status, await told.text()) == (418, want)
        assert told.headers["Content-Security-Policy"] == "default-src 'none'"
        assert "Audit-Id" not in told.headers


async def test_a_stream_is_handed_on_as_it_comes() -> None:
    async with forwarded() as (session, base), session.get(f"{base}/ui/?watch=true&of=") as told:
        assert told.content_type == "text/event-stream"
        assert await told.text() == "data: 0\n\ndata: 1\n\n"


async def test_a_stream_that_the_server_breaks_off_ends_without_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with forwarded() as (session, base), session.get(f"{base}/ui/?watch=broken") as told:
        assert await told.text() == "data: 0\n\ndata: 1\n\n"
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("verb", "path", "host", "want"),
    [
        pytest.param("GET", "/ui/", "evil.example", 403, id="another site's name for this port"),
        pytest.param("POST", "/ui/login", "127.0.0.1", 405, id="writing"),
        pytest.param("GET", "/api/v1/secrets", "127.0.0.1", 404, id="what is not the page's"),
    ],
)
async def test_nothing_else_is(verb: str, path: str, host: str, want: int) -> None:
    async with (
        forwarded() as (session, base),
        session.request(verb, base + path, headers={"Host": host}) as told,
    ):
        assert told.status == want


@pytest.mark.parametrize(
    "path",
    [
        "../../../../../../api/v1/secrets",
        "clusterqueues/../../api",
        "%2e%2E/api",
        "%252e%252e/api",
        "%25252e./api",
        "..%2fapi",
        "clusterqueues/..",
        "./",
    ],
)
async def test_no_path_leads_out_of_the_page(path: str) -> None:
    async with forwarded() as (_session, base):
        host, _, port = base.removeprefix("http://").partition(":")
        # A client would take the dots out of the path before it asks.
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /ui/{path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
        told = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    assert told.split()[1] == b"404"
