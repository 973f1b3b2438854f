"""A port on loopback that leads to the page of a cluster.

What comes is handed on to the API server, which knows the user by the kubeconfig and hands it on
to the serving process. Only reading below the page's path is forwarded, and only for a browser that
asked for this machine by name: another site cannot have its own name mean this port.
"""

import asyncio
import signal
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import click
import msgspec
from aiohttp import ClientError, web

from queueing.cli.explanations import subject_of
from queueing.cli.loopback import HOST, on_loopback
from queueing.cli.output import UsageProblem
from queueing.cli.subjects import Named
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.request import Request
from queueing.kube.resources import CONFIG_MAPS
from queueing.serving.explanations import BESIDE, PAGE, place_of

NAMES = (HOST, "localhost")
BASE = "/ui/"
KEPT = (
    "Content-Type",
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "Referrer-Policy",
    "Cache-Control",
    "Cross-Origin-Opener-Policy",
    "Location",
    "Retry-After",
)
"""Headers of an answer that a browser needs."""
OK, ABSENT = 200, 404
CLOSE_S = 0.5


async def forward(asked: Named | None, options: Mapping[str, Any]) -> None:
    """Forward until SIGINT or SIGTERM.

    Raises UsageProblem where there is no such object or no page, KubeError where the server
    refuses.
    """
    cluster = await load_cluster(options["kubeconfig"], options["context"])
    namespace = options["namespace"] or cluster.namespace
    async with Client(cluster, user_agent="queueing-ui") as client:
        path = "" if asked is None else place_of(await subject_of(client, asked, namespace))
        beside = await _address_beside(client)
        if beside:
            await _show(f"{beside}{path}", options)
            return
        async with on_loopback(application(client), options["port"], close_s=CLOSE_S) as url:
            await _show(f"{url}{BASE}{path}", options)
            click.echo("Ctrl-C ends it.")
            await _until_told()


async def _show(url: str, options: Mapping[str, Any]) -> None:
    click.echo(f"The page is at {url}")
    if options["browser"]:
        await asyncio.to_thread(webbrowser.open, url)


async def _until_told() -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    await told.wait()


async def _address_beside(client: Client) -> str:
    """Return where a cluster that hands nothing on has its page; empty where it hands on.

    Raises UsageProblem where the cluster has no page.
    """
    async with client.handed_on(Request("GET", f"{PAGE}/static/page.css")) as answer:
        if answer.status == OK:
            return ""
        text = (await answer.text())[:300]
    if answer.status != ABSENT:
        raise UsageProblem(f"the page does not answer ({answer.status}): {text}")
    try:
        found = msgspec.json.decode(await client.get(CONFIG_MAPS.at(*BESIDE)))
    except KubeError as error:
        told = "this cluster serves no page: is queueing installed with its visibility API?"
        raise UsageProblem(told) from error
    return str(found["data"]["url"])


def application(client: Client) -> web.Application:
    """Return what listens on the port."""

    async def hand_on(request: web.Request) -> web.StreamResponse:
        if request.url.host not in NAMES:
            return web.Response(status=403, text="ask for 127.0.0.1 or localhost\n")
        path = request.rel_url.raw_path.removeprefix(BASE)
        if _leads_out(path):
            return web.Response(status=404, text="there is no such page\n")
        try:
            async with client.handed_on(
                Request("GET", f"{PAGE}/{path}", dict(request.query))
            ) as answer:
                headers = {name: answer.headers[name] for name in KEPT if name in answer.headers}
                told = web.StreamResponse(status=answer.status, headers=headers)
                await told.prepare(request)
                # A stream that breaks off ends for the browser as well, which asks again.
                with suppress(ClientError):
                    async for chunk in answer.content.iter_any():
                        await told.write(chunk)
                    await told.write_eof()
                return told
        except KubeError as error:
            return web.Response(status=502, text=f"The API server does not answer: {error}\n")

    async def to_base(_request: web.Request) -> web.StreamResponse:
        raise web.HTTPSeeOther(BASE)

    made = web.Application()
    made.router.add_get("/", to_base)
    made.router.add_get(BASE.rstrip("/"), to_base)
    made.router.add_get(f"{BASE}{{path:.*}}", hand_on)
    return made


def _leads_out(path: str) -> bool:
    """Say whether somebody on the way may read a path as one that is not below the page's.

    A path may be unquoted by more than one of those who hand it on.
    """
    plain = unquote(path)
    while plain != path:
        path, plain = plain, unquote(plain)
    return any(segment in {".", ".."} for segment in plain.split("/"))
