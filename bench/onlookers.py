"""Scenario a-watched: (a) again and again, by turns alone and while people and Prometheus look on.

An overview and a queue are open in two browsers, a terminal shows `queueing top`, and somebody
scrapes every second. Reported is what the controller's process itself uses for each workload: what
others use beside it delays no decision.
"""

import asyncio
import os
import pty
import ssl
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

import aiohttp

from bench import load
from bench.cpu import folders_of, own_seconds
from bench.results import Result
from bench.stage import LIMIT_S, client_of, furnished, log_of, running_product, settled
from bench.submitters import Teams
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.identities import ADMIN
from e2e.product import Controller

NAME = "a-watched"
SCRAPE_EVERY_S = 1.0
SCALE = 0.05
PAGES = ("", "clusterqueues/{queue}")


async def run(cluster: Cluster, scale: float | None, turns: int) -> list[Result]:
    """Run (a) twice for each turn, first alone and then watched."""
    wanted = load.LOADS["a"]
    items = load.schedule(wanted, scale or SCALE)
    used: dict[bool, list[float]] = {False: [], True: []}
    walls: dict[bool, list[float]] = {False: [], True: []}
    async with client_of(cluster) as client:
        await furnished(cluster, client, wanted)
        async with running_product(cluster) as controller:
            await settled(log_of(cluster))
            process = controller_of(controller)
            for turn in range(2 * turns + 1):
                looked_at = turn % 2 == 0
                mine = [replace(one, name=f"turn{turn}-{one.name}") for one in items]
                async with onlookers(cluster, controller, looked_at=looked_at):
                    before = own_seconds(process)
                    wall = await Teams(client, mine).run(LIMIT_S)
                    spent = own_seconds(process) - before
                if turn:  # the first one warms everything up
                    used[looked_at].append(1_000 * spent / len(mine))
                    walls[looked_at].append(wall)
    alone, watched = median(used[False]), median(used[True])
    return [
        Result(
            scenario=NAME,
            numbers={
                "workloads each": len(items),
                "turns": turns,
                "controller, CPU ms per Workload: alone": alone,
                "controller, CPU ms per Workload: watched": watched,
                "controller, CPU more, percent": 100 * (watched / alone - 1),
                "seconds: alone": median(walls[False]),
                "seconds: watched": median(walls[True]),
            },
            aims={"controller, CPU more, percent": "less than 5"},
        )
    ]


def controller_of(controller: Controller) -> Path:
    """Return the folder in `/proc` of the process that decides, of the two that a replica has."""
    for folder in folders_of(controller.process.pid):
        with suppress(OSError):
            if "--no-serving" in (folder / "cmdline").read_text().split("\0"):
                return folder
    raise RuntimeError("the controller's process is not there")


@asynccontextmanager
async def onlookers(
    cluster: Cluster, controller: Controller, *, looked_at: bool
) -> AsyncIterator[None]:
    """Have others look on until the block ends, if they are to."""
    if not looked_at:
        yield
        return
    headers = {"Authorization": f"Bearer {cluster.accesses[ADMIN].token}"}
    context = ssl._create_unverified_context()  # noqa: SLF001 - our own server, on loopback
    base = f"https://{HOST}:{controller.metrics}"
    connector = aiohttp.TCPConnector(ssl=context)
    async with (
        aiohttp.ClientSession(headers=headers, connector=connector) as session,
        top(cluster),
        asyncio.TaskGroup() as group,
    ):
        tasks = [group.create_task(scrape(session, f"{base}/metrics"))]
        for page in PAGES:
            of = page.format(queue=load.queue_name(0))
            tasks.append(group.create_task(watch(session, f"{base}/ui/", of)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def scrape(session: aiohttp.ClientSession, url: str) -> None:
    """Scrape every second."""
    while True:
        began = time.monotonic()
        async with session.get(url) as answer:
            answer.raise_for_status()
            await answer.read()
        await asyncio.sleep(max(0.0, SCRAPE_EVERY_S - (time.monotonic() - began)))


async def watch(session: aiohttp.ClientSession, url: str, of: str) -> None:
    """Have a page open, as a browser has."""
    async with session.get(url, params={"watch": "true", "of": of}) as answer:
        answer.raise_for_status()
        async for _ in answer.content.iter_any():
            pass


@asynccontextmanager
async def top(cluster: Cluster) -> AsyncIterator[None]:
    """Have `queueing top` run on a terminal."""
    ours, theirs = pty.openpty()
    program = str(Path(sys.executable).with_name("queueing"))
    process = await asyncio.create_subprocess_exec(
        program, "top", "--kubeconfig", str(cluster.kubeconfig(ADMIN)), stdout=theirs
    )
    os.close(theirs)
    loop = asyncio.get_running_loop()
    loop.add_reader(ours, lambda: os.read(ours, 65_536))
    try:
        yield
    finally:
        loop.remove_reader(ours)  # a terminal that nobody writes to cannot be read
        process.terminate()
        await process.wait()
        os.close(ours)
