"""Scenarios (a) to (d), (h) and (i): on a real control plane of our own, started for this run."""

import asyncio
from dataclasses import dataclass

from bench import (
    cpu,
    jobs_with_pods,
    load,
    onlookers,
    plain_pods,
    preemption_report,
    preemptions,
)
from bench.results import TIMES, Result, percentile
from bench.stage import (
    FLOOR_SPACE,
    LIMIT_S,
    USER,
    client_of,
    emptied,
    furnished,
    log_of,
    running_product,
    settled,
)
from bench.submitters import Teams, floor, watched
from e2e import product
from e2e.cluster import Cluster
from e2e.controlplane.build import binaries
from e2e.loopback import control_plane
from e2e.writes import by_kind

PART = 0.1
"""The scale of (a) to (c) and (h) unless told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured; without a scale each scenario has its own."""

    scale: float | None
    jobs: int
    turns: int


def run(name: str, size: Size) -> list[Result]:
    """Start a control plane, run one scenario on it, and leave nothing behind."""
    with control_plane(binaries()) as cluster:
        product.install(cluster)
        if name in jobs_with_pods.VARIANTS:
            return [jobs_with_pods.run(cluster, name, size.jobs)]
        if name in plain_pods.NAMES:
            return [plain_pods.run(cluster, name, size.jobs)]
        for space in (load.NAMESPACE, FLOOR_SPACE):
            cluster.api().create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
            )
        if name == onlookers.NAME:
            return asyncio.run(onlookers.run(cluster, size.scale, size.turns))
        if name == preemption_report.NAME:
            return asyncio.run(preemptions.run(cluster, size.scale, size.turns))
        return [asyncio.run(_workloads(cluster, name, size.scale or PART))]


async def _workloads(cluster: Cluster, name: str, scale: float) -> Result:
    wanted = load.LOADS[name]
    items = load.schedule(wanted, scale)
    ideal = load.ideal(wanted, items)
    async with client_of(cluster) as client:
        await furnished(cluster, client, wanted)
        meter = cpu.Meter(cluster)
        await meter.begin()
        bare, floor_s = await watched(client, FLOOR_SPACE, floor(client, items, FLOOR_SPACE))
        floor_used = meter.end()
        await emptied(client, FLOOR_SPACE)
        log = log_of(cluster)
        async with running_product(cluster):
            await settled(log)
            log = log_of(cluster)
            teams = Teams(client, items)
            await meter.begin()
            wall_s = await teams.run(LIMIT_S)
            await settled(log)
            used = meter.end()
            writes = by_kind(log.writes(user=USER)) if log else {}
    per_workload = {f"writes each: {kind}": n / len(items) for kind, n in sorted(writes.items())}
    waits = [teams.admitted[name] - teams.created[name] for name in teams.admitted]
    bound_s = max(ideal[-1], floor_s)
    return Result(
        scenario=name,
        numbers={
            "workloads": len(items),
            "seconds": wall_s,
            "admissions per second": len(waits) / wall_s,
            "floor, seconds": floor_s,
            "floor, admissions per second": len(waits) / floor_s,
            "bound by quota and arrival, seconds": ideal[-1],
            TIMES: wall_s / bound_s,
            "wait until admitted, mean s": sum(waits) / len(waits),
            "wait until admitted, p99 s": percentile(waits, 0.99),
            **cpu.each(used, floor_used, len(items), "Workload"),
            **per_workload,
        },
        admissions=sorted(teams.admitted.values()),
        curves={"floor": sorted(bare), "bound by quota and arrival": sorted(ideal)},
        aims={TIMES: "at most 1.5"},
    )
