"""Scenario (i): the load of Kueue's own runner, with priorities and preemption, in both modes.

The modes take turns on one control plane, which is emptied of Workloads in between. Which of them
is first changes from turn to turn.
"""

import asyncio
import re
import ssl
import statistics
import urllib.request
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

import msgspec

from bench import cpu, history, load
from bench.results import TIMES, Result
from bench.runner import Runner
from bench.stage import (
    FLOOR_SPACE,
    USER,
    client_of,
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
from queueing.kube import resources
from queueing.kube.client import Client, ListQuery, Request

NAME = "i"
OURS, KUEUE = "Queueing", "Kueue"
LIMIT_S = 3600.0
LOOKS_S = 8.0
"""Seconds between two looks at how late the event loop was: less than what it remembers."""
LATE = "longest delay of the event loop, s"
_LATE = re.compile(r"^queueing_event_loop_lag_seconds\{[^}]*\} (\S+)$", re.MULTILINE)
AIMS: Mapping[str, str] = MappingProxyType(
    {
        "seconds": "at most 1",
        "evictions": "at most 0.5",
        "CPU of queueing, s": "at most 1",
        **{
            f"wait of {size.name} until first admitted, mean s": "at most 1.05"
            for size in load.LOADS[NAME].sizes
        },
    }
)
"""Of the default mode, as a part of Kueue mode's in the same run."""
AIMS_ALONE = MappingProxyType(
    {"avoidable, % of evictions": "at most 5", "evictions of one workload, most": "at most 3"}
)


async def run(cluster: Cluster, scale: float | None, turns: int) -> list[Result]:
    """Measure the floor, then so many turns of both modes; the last result is their quotients."""
    wanted = load.LOADS[load.THIRD if scale is None else NAME]
    items = load.schedule(wanted, scale or 1.0)
    ideal = load.ideal(wanted, items)[-1]
    found: dict[str, list[Result]] = {OURS: [], KUEUE: []}
    async with client_of(cluster) as client:
        await furnished(cluster, client, wanted)
        bare, floor_s = await watched(client, FLOOR_SPACE, floor(client, items, FLOOR_SPACE))
        limits = {"floor, seconds": floor_s, "bound by quota and arrival, seconds": ideal}
        for turn in range(turns):
            for mode in (OURS, KUEUE)[:: 1 if turn % 2 == 0 else -1]:
                await _emptied(client)
                name = f"{NAME}, {mode}" + (f", turn {turn + 1}" if turns > 1 else "")
                runner, told = await _measured(cluster, client, items, mode)
                numbers = {**report(wanted, items, runner.events), **told}
                whole = {**numbers, **limits, TIMES: numbers["seconds"] / max(limits.values())}
                found[mode].append(
                    Result(
                        scenario=name,
                        numbers=whole,
                        admissions=[
                            one.at for one in runner.events if one.what is history.What.ADMITTED
                        ],
                        curves={"floor": sorted(bare)},
                        aims=dict(AIMS_ALONE) if mode == OURS else {},
                    )
                )
    return [*found[OURS], *found[KUEUE], quotients(found[OURS], found[KUEUE])]


def report(
    wanted: load.Load, items: Sequence[load.Item], events: Sequence[history.Event]
) -> dict[str, float]:
    """Return what the events of a run say."""
    told = history.evictions(events)
    stops = [one for one in told if not one.late]
    avoidable = [one for one in stops if one.avoidable]
    cpus = {item.name: item.cpu for item in items}
    seconds = events[-1].at
    quota = history.quota(wanted, items, events)
    whole = wanted.queues * wanted.nominal * seconds
    return {
        "workloads": len(items),
        "seconds": seconds,
        "evictions": len(stops),
        **{
            f"evictions of {size.name}": sum(one.victim.startswith(size.name) for one in stops)
            for size in wanted.sizes
        },
        "evictions of one workload, most": max(
            Counter(one.victim for one in stops).values(), default=0
        ),
        "evictions of what had finished": len(told) - len(stops),
        "avoidable evictions": len(avoidable),
        "avoidable by a second or more": sum((one.ahead_s or 0.0) >= 1.0 for one in stops),
        "avoidable, % of evictions": 100 * len(avoidable) / max(1, len(stops)),
        "run time thrown away, s": sum(one.ran_s for one in stops),
        "run time thrown away, CPU s": sum(one.ran_s * cpus[one.victim] for one in stops),
        "quota idle though it was asked for, CPU s": quota.idle,
        "quota idle though it was asked for, %": 100 * quota.idle / whole,
        "quota held, %": 100 * quota.held / whole,
        **_waits(wanted, items, events),
    }


def _waits(
    wanted: load.Load, items: Sequence[load.Item], events: Sequence[history.Event]
) -> dict[str, float]:
    """Return mean and longest time to admission, for each class."""
    found = history.waits(events)
    told: dict[str, float] = {}
    for which, by_name in (("first", found.first), ("last", found.last)):
        for size in reversed(wanted.sizes):
            waited = [by_name[one.name] for one in items if one.size == size.name]
            what = f"wait of {size.name} until {which} admitted"
            told[f"{what}, mean s"] = statistics.fmean(waited)
            told[f"{what}, longest s"] = max(waited)
    return told


def quotients(ours: Sequence[Result], kueues: Sequence[Result]) -> Result:
    """Return each number of our default as a part of Kueue mode's; of several turns the medians."""
    numbers = {}
    for name in ours[0].numbers:
        mine, theirs = (
            statistics.median(one.numbers[name] for one in side) for side in (ours, kueues)
        )
        if theirs and name not in SAME:
            numbers[name] = mine / theirs
    return Result(scenario=f"{NAME}, {OURS}, times {KUEUE} mode", numbers=numbers, aims=dict(AIMS))


SAME = frozenset({"workloads", "floor, seconds", "bound by quota and arrival, seconds"})
"""What does not depend on the mode."""


async def _measured(
    cluster: Cluster, client: Client, items: Sequence[load.Item], mode: str
) -> tuple[Runner, dict[str, float]]:
    """Run the load once; return the runner, and what it cost."""
    log = log_of(cluster)
    async with running_product(cluster, {"compatibility": mode}) as controller:
        await settled(log)
        log = log_of(cluster)
        runner = Runner(client, items)
        before = cpu.seconds_by_part(cluster)
        async with _looking_at_the_loop(cluster, controller) as late:
            await runner.run(LIMIT_S)
        used = cpu.seconds_by_part(cluster) - before
        writes = by_kind(log.writes(user=USER)) if log else Counter[str]()
    return runner, {
        **{f"CPU of {part}, s": seconds for part, seconds in sorted(used.items())},
        LATE: max(late),
        **{f"writes each: {kind}": n / len(items) for kind, n in sorted(writes.items())},
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


class _Page(msgspec.Struct):
    items: list[msgspec.Raw]


async def _emptied(client: Client) -> None:
    """Delete the Workloads of an earlier turn."""
    where = resources.WORKLOADS.within(load.NAMESPACE)
    query = ListQuery().parameters()
    while msgspec.json.decode(await client.list_page(where), type=_Page).items:
        await client.send(Request("DELETE", where.path, query))
