"""Scenario (i): the load of Kueue's own runner, with priorities and preemption, in both modes.

The modes take turns on one control plane, which is emptied of Workloads in between. Which of them
is first changes from turn to turn.
"""

import asyncio
import re
import ssl
import urllib.request
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import click

from bench import cpu, history, load
from bench.decision_times import admissions_in, mark_of
from bench.preemption_report import AIMS_ALONE, KUEUE, NAME, OURS, quotients, report
from bench.results import TIMES, Result, table
from bench.runner import Runner
from bench.stage import (
    FLOOR_SPACE,
    USER,
    client_of,
    emptied,
    furnished,
    log_of,
    running_product,
    settled,
)
from bench.submitters import floor, watched
from e2e import identities, product
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.writes import by_kind
from queueing.kube.client import Client

LIMIT_S = 3600.0
LOOKS_S = 8.0
"""Seconds between two looks at how late the event loop was: less than what it remembers."""
LATE = "longest delay of the event loop, s"
_LATE = re.compile(r"^queueing_event_loop_lag_seconds\{[^}]*\} (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What all runs have in common."""

    cluster: Cluster
    client: Client
    wanted: load.Load
    items: Sequence[load.Item]
    bare: Sequence[float]
    """Admissions of the floor, in seconds."""
    limits: Mapping[str, float]
    """Seconds that nobody can do without, by name."""
    floor_cpu_s: float


async def run(cluster: Cluster, scale: float | None, turns: int) -> list[Result]:
    """Measure the floor, then so many turns of both modes; the last result is their quotients.

    Each run is told when it ends, so that an interrupt loses one at most.
    """
    found: dict[str, list[Result]] = {OURS: [], KUEUE: []}
    async with client_of(cluster) as client:
        stage = await _stage(cluster, client, scale)
        for turn in range(turns):
            for mode in (OURS, KUEUE)[:: 1 if turn % 2 == 0 else -1]:
                await emptied(client, load.NAMESPACE)
                name = f"{NAME}, {mode}" + (f", turn {turn + 1}" if turns > 1 else "")
                result = await _measured(stage, mode, name)
                click.echo(table([result]), err=True)
                found[mode].append(result)
    return [*found[OURS], *found[KUEUE], quotients(found[OURS], found[KUEUE])]


async def _stage(cluster: Cluster, client: Client, scale: float | None) -> Stage:
    wanted = load.LOADS[load.THIRD if scale is None else NAME]
    items = load.schedule(wanted, scale or 1.0)
    ideal = load.ideal(wanted, items)[-1]
    await furnished(cluster, client, wanted)
    before = cpu.seconds_by_part(cluster)
    bare, floor_s = await watched(client, FLOOR_SPACE, floor(client, items, FLOOR_SPACE))
    used = cpu.seconds_by_part(cluster) - before
    await emptied(client, FLOOR_SPACE)
    return Stage(
        cluster=cluster,
        client=client,
        wanted=wanted,
        items=items,
        bare=sorted(bare),
        limits={"floor, seconds": floor_s, "bound by quota and arrival, seconds": ideal},
        floor_cpu_s=used.total(),
    )


async def _measured(stage: Stage, mode: str, name: str) -> Result:
    """Run the load once in a mode."""
    cluster, items = stage.cluster, stage.items
    log = log_of(cluster)
    async with running_product(cluster, {"compatibility": mode}) as controller:
        await settled(log)
        log = log_of(cluster)
        lines = controller.process.program.log
        mark, runner = mark_of(lines), Runner(stage.client, items)
        before = cpu.seconds_by_part(cluster)
        async with _looking_at_the_loop(cluster, controller) as late:
            await runner.run(LIMIT_S)
        used = cpu.seconds_by_part(cluster) - before
        writes = by_kind(log.writes(user=USER)) if log else Counter[str]()
    decided = admissions_in(lines, mark, runner.began)
    events = history.with_decisions(runner.events, decided)
    told = report(stage.wanted, items, events)
    numbers = {
        **told,
        **{f"CPU of {part}, s": seconds for part, seconds in sorted(used.items())},
        LATE: max(late),
        **{f"writes each: {kind}": n / len(items) for kind, n in sorted(writes.items())},
        **stage.limits,
        TIMES: told["seconds"] / max(stage.limits.values()),
        **({"CPU times the floor": used.total() / stage.floor_cpu_s} if used else {}),
        **(_beside_clients(told["seconds"], used) if used else {}),
    }
    return Result(
        scenario=name,
        numbers=numbers,
        admissions=history.last_admissions(runner.events),
        curves={"floor": stage.bare},
        aims=dict(AIMS_ALONE) if mode == OURS else {},
    )


def _beside_clients(seconds: float, used: Counter[str]) -> dict[str, float]:
    """Return what a run took, by what its clients did: they do the same in each mode.

    So their CPU time says how fast the machine was, which differs by a fifth from run to run.
    """
    clients = used[cpu.CLIENT]
    return {
        "seconds per CPU second of clients": seconds / clients,
        "CPU of queueing per CPU second of clients": used[cpu.PRODUCT] / clients,
    }


@asynccontextmanager
async def _looking_at_the_loop(
    cluster: Cluster, controller: product.Controller
) -> AsyncGenerator[list[float]]:
    """Collect how late the controller's event loop was, in seconds, until the block has ended."""
    found: list[float] = []

    async def look() -> None:
        told = await asyncio.to_thread(_exposition, cluster, controller)
        found.extend(float(one) for one in _LATE.findall(told))

    async def again_and_again() -> None:
        while True:
            await asyncio.sleep(LOOKS_S)
            await look()

    async with asyncio.TaskGroup() as group:
        looking = group.create_task(again_and_again())
        yield found
        looking.cancel()
    await look()


def _exposition(cluster: Cluster, controller: product.Controller) -> str:
    """Return the metrics of a replica as Prometheus reads them."""
    trusting = ssl.create_default_context()
    # The certificate is not for loopback.
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {cluster.accesses[identities.ADMIN].token}"}
    url = f"https://{HOST}:{controller.metrics}/metrics"
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=30, context=trusting) as answer:
        return str(answer.read().decode())
