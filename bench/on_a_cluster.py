"""Scenarios (a) to (d): on a real control plane of our own, started for this run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from bench import load
from bench.results import Result, percentile
from bench.submitters import (
    FLOOR_CLIENTS,
    JobWatch,
    Teams,
    Wire,
    admission,
    condition,
    floor,
    in_parallel,
)
from e2e import identities, product
from e2e.cluster import Cluster
from e2e.controlplane.build import binaries
from e2e.loopback import control_plane
from e2e.nodes import make_nodes
from e2e.objects import Pods, cluster_queue, job, local_queue
from e2e.objects import flavor as flavor_object
from e2e.writes import AuditLog, by_kind
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.reflector import Reflector
from queueing.translate.wire.jobs import Job

FLOOR_SPACE = "floor"
LIMIT_S = 900.0
SLOTS = 40
RUNS_S = 1.0
_ACCOUNT = f"{identities.CONTROLLER_NAMESPACE}:{identities.CONTROLLER_ACCOUNT}"
SETUP = {
    one.kind: one
    for one in (resources.RESOURCE_FLAVORS, resources.CLUSTER_QUEUES, resources.LOCAL_QUEUES)
}
USER = f"system:serviceaccount:{_ACCOUNT}"


def run(name: str, *, scale: float, jobs: int) -> Result:
    """Start a control plane, run one scenario on it, and leave nothing behind."""
    with control_plane(binaries()) as cluster:
        product.install(cluster)
        for space in (load.NAMESPACE, FLOOR_SPACE):
            cluster.api().create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
            )
        if name in load.LOADS:
            return asyncio.run(_workloads(cluster, name, scale))
        make_nodes(cluster.api(), 4, group="bench")
        return asyncio.run(_jobs(cluster, jobs))


@asynccontextmanager
async def _client(cluster: Cluster) -> AsyncIterator[Client]:
    where = await load_cluster(str(cluster.kubeconfig(identities.ADMIN)))
    async with Client(where, user_agent="bench") as client:
        yield client


@asynccontextmanager
async def _product(cluster: Cluster) -> AsyncIterator[None]:
    controller = await asyncio.to_thread(product.start, cluster, "bench")
    try:
        await asyncio.to_thread(controller.wait_ready)
        yield
    finally:
        await asyncio.to_thread(controller.stop)


async def _workloads(cluster: Cluster, name: str, scale: float) -> Result:
    wanted = load.LOADS[name]
    items = load.schedule(wanted, scale)
    ideal = load.ideal(wanted, items)
    async with _client(cluster) as client:
        made = (partial(_create, client, one) for one in load.queues(wanted))
        await in_parallel(made, FLOOR_CLIENTS)
        start = time.monotonic()
        bare = await floor(client, items, FLOOR_SPACE)
        floor_s = time.monotonic() - start
        async with _product(cluster):
            log = AuditLog(cluster.audit_log) if cluster.audit_log else None
            teams = Teams(client, items)
            wall_s = await teams.run(LIMIT_S)
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
            "times the longer of both": wall_s / bound_s,
            "wait until admitted, mean s": sum(waits) / len(waits),
            "wait until admitted, p99 s": percentile(waits, 0.99),
            **per_workload,
        },
        admissions=sorted(teams.admitted.values()),
        curves={"floor": sorted(bare), "bound by quota and arrival": sorted(ideal)},
    )


async def _jobs(cluster: Cluster, count: int) -> Result:
    for one in (
        flavor_object("default"),
        cluster_queue("bench", {"default": {"cpu": str(SLOTS)}}),
        local_queue(load.NAMESPACE, "main", "bench"),
    ):
        await asyncio.to_thread(cluster.api().create, one)
    async with _client(cluster) as client:
        bare, floor_s = await _bare_jobs(client, count)
        async with _product(cluster):
            log = AuditLog(cluster.audit_log) if cluster.audit_log else None
            seen, wall_s = await _queued_jobs(client, count)
            await asyncio.sleep(2)  # what follows the last Job's end is counted too
            writes = by_kind(log.writes(user=USER, namespace=load.NAMESPACE)) if log else {}
    per_job = {f"writes per Job: {kind}": n / count for kind, n in sorted(writes.items())}
    return Result(
        scenario="d",
        numbers={
            "Jobs": count,
            "seconds": wall_s,
            "Jobs per second": count / wall_s,
            "floor, seconds": floor_s,
            "bound by quota, seconds": -(-count // SLOTS) * RUNS_S,
            "times the floor": wall_s / floor_s,
            **per_job,
        },
        admissions=sorted(seen.started.values()),
        curves={"floor": sorted(bare.started.values())},
    )


async def _create(client: Client, wanted: Wire) -> None:
    where = SETUP[wanted["kind"]].within(wanted["metadata"].get("namespace", ""))
    await client.create(where, wanted)


@asynccontextmanager
async def _watching(client: Client, space: str, count: int) -> AsyncIterator[JobWatch]:
    seen = JobWatch(count)
    reflector = Reflector(client, resources.JOBS.within(space), Job, seen.see)
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        watching = group.create_task(reflector.run())
        await reflector.synced.wait()
        seen.start = time.monotonic()
        yield seen
        watching.cancel()


def _job(space: str, number: int, queue: str) -> dict[str, object]:
    return job(space, f"job-{number:05}", queue=queue, pods=Pods(cpu="1", run_s=int(RUNS_S)))


async def _queued_jobs(client: Client, count: int) -> tuple[JobWatch, float]:
    async with _watching(client, load.NAMESPACE, count) as seen:

        async def one(number: int) -> None:
            made = _job(load.NAMESPACE, number, "main")
            await client.create(resources.JOBS.within(load.NAMESPACE), made)

        await in_parallel((partial(one, number) for number in range(count)), 16)
        await seen.all_ended.wait()
        wall_s = time.monotonic() - seen.start
    return seen, wall_s


async def _bare_jobs(client: Client, count: int) -> tuple[JobWatch, float]:
    """Create each Job and do for it what an admission must do, within the same number of slots."""
    slots = asyncio.Semaphore(SLOTS)
    async with _watching(client, FLOOR_SPACE, count) as seen:

        async def one(number: int) -> None:
            name = f"job-{number:05}"
            made = _job(FLOOR_SPACE, number, "")
            created = json.loads(await client.create(resources.JOBS.within(FLOOR_SPACE), made))
            item = load.Item(name=name, queue="bench", at=0.0, cpu=1, runs_s=RUNS_S)
            await _admit_bare(client, item, created["metadata"]["uid"])
            async with slots:
                target = resources.JOBS.at(name, FLOOR_SPACE)
                await client.patch_merge(target, {"spec": {"suspend": False}})
                await seen.waiting.setdefault(name, asyncio.Event()).wait()
            await _end_bare(client, item)

        acts = (partial(one, number) for number in range(count))
        await in_parallel(acts, SLOTS + FLOOR_CLIENTS)
        wall_s = time.monotonic() - seen.start
    return seen, wall_s


async def _admit_bare(client: Client, item: load.Item, uid: str) -> None:
    made = load.workload_object(item, FLOOR_SPACE)
    made["metadata"]["labels"] = {"kueue.x-k8s.io/job-uid": uid}
    await client.create(resources.WORKLOADS.within(FLOOR_SPACE), made)
    await client.patch_merge(_status(item), {"status": admission(item)})


async def _end_bare(client: Client, item: load.Item) -> None:
    conditions = [condition("QuotaReserved"), condition("Admitted"), condition("Finished")]
    await client.patch_merge(_status(item), {"status": {"conditions": conditions}})


def _status(item: load.Item) -> resources.Target:
    return resources.WORKLOADS.at(item.name, FLOOR_SPACE, "status")
