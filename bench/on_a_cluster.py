"""Scenarios (a) to (d): on a real control plane of our own, started for this run."""

import asyncio
import re
import time
from functools import partial

from bench import cpu, jobs_with_pods, load
from bench.results import TIMES, Result, percentile
from bench.stage import LIMIT_S, USER, client_of, log_of, running_product
from bench.submitters import FLOOR_CLIENTS, Teams, Wire, floor, in_parallel, watched
from e2e import product
from e2e.cluster import Cluster
from e2e.controlplane.build import binaries
from e2e.loopback import control_plane
from e2e.writes import AuditLog, by_kind
from queueing.kube import resources
from queueing.kube.client import Client

FLOOR_SPACE = "floor"
SETTLES_S = 4.0
"""New definitions and policies keep the API server busy for a while: neither side's burst pays."""
SETTLED_AFTER_MAX_S = 180.0
WATCHED_AFTER_MAX_S = 120.0
_WATCHES = re.compile(
    r'^apiserver_longrunning_requests\{[^}]*resource="workloads"[^}]*verb="WATCH"[^}]*\} [1-9]',
    re.MULTILINE,
)
SETUP = {
    one.kind: one
    for one in (resources.RESOURCE_FLAVORS, resources.CLUSTER_QUEUES, resources.LOCAL_QUEUES)
}


def run(name: str, *, scale: float, jobs: int) -> Result:
    """Start a control plane, run one scenario on it, and leave nothing behind."""
    with control_plane(binaries()) as cluster:
        product.install(cluster)
        if name in jobs_with_pods.VARIANTS:
            return jobs_with_pods.run(cluster, name, jobs)
        for space in (load.NAMESPACE, FLOOR_SPACE):
            cluster.api().create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
            )
        return asyncio.run(_workloads(cluster, name, scale))


async def _workloads(cluster: Cluster, name: str, scale: float) -> Result:
    wanted = load.LOADS[name]
    items = load.schedule(wanted, scale)
    ideal = load.ideal(wanted, items)
    async with client_of(cluster) as client:
        made = (partial(_create, client, one) for one in load.queues(wanted))
        await in_parallel(made, FLOOR_CLIENTS)
        await _watched_by_kubernetes(cluster)
        await asyncio.sleep(SETTLES_S)
        before = cpu.seconds_by_part(cluster)
        bare, floor_s = await watched(client, FLOOR_SPACE, floor(client, items, FLOOR_SPACE))
        floor_used = cpu.seconds_by_part(cluster) - before
        log = log_of(cluster)
        async with running_product(cluster):
            await _settled(log)
            log = log_of(cluster)
            teams = Teams(client, items)
            before = cpu.seconds_by_part(cluster)
            wall_s = await teams.run(LIMIT_S)
            used = cpu.seconds_by_part(cluster) - before
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


async def _watched_by_kubernetes(cluster: Cluster) -> None:
    """Wait until the garbage collector watches Workloads, as it does in every cluster.

    It finds a new kind within half a minute. What its watch costs the API server both sides pay.
    """
    async with asyncio.timeout(WATCHED_AFTER_MAX_S):
        while True:
            told = await asyncio.to_thread(cluster.kubectl, "get", "--raw", "/metrics")
            if _WATCHES.search(told.stdout):
                return
            await asyncio.sleep(1.0)


async def _settled(log: AuditLog | None) -> None:
    """Wait until queueing has taken in the queues: each gets a finalizer and a status once."""
    known, patient_until = -1, time.monotonic() + SETTLED_AFTER_MAX_S
    while time.monotonic() < patient_until:
        await asyncio.sleep(SETTLES_S)
        writes = log.writes(user=USER) if log else []
        written = sum(one.resource != "leases" for one in writes)
        if written == known:
            return
        known = written


async def _create(client: Client, wanted: Wire) -> None:
    where = SETUP[wanted["kind"]].within(wanted["metadata"].get("namespace", ""))
    await client.create(where, wanted)
