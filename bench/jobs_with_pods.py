"""Scenario (d): Jobs with pods on simulated nodes, also with a device for each pod.

The floor and the product take turns on one control plane, so that a busy minute of the machine
falls on both.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from bench import cpu, load
from bench.results import TIMES, Result
from bench.stage import LIMIT_S, USER, client_of, log_of, running_product
from bench.submitters import (
    FLOOR_CLIENTS,
    Job,
    JobWatch,
    Wire,
    admission,
    condition,
    in_parallel,
)
from e2e.cluster import Cluster
from e2e.devices.hardware import H100, device_class, gpus, resource_slice
from e2e.devices.shapes import GPU, device_flavor
from e2e.nodes import make_nodes
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.writes import AuditLog, by_kind
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Reflector

SLOTS = 40
RUNS_S = 1.0
NODES = 4
DEVICES_EACH = 16
"""More than there are slots: a claim is given back a little after its pod has ended."""
TURNS = 2
FLOOR, WARM = "floor", "warm"
CLASS = "bench-gpu"
CLAIM = "gpu"
LINGERS_S = 6.0
"""What follows the last Job's end is counted, too: until nothing is written for so long."""
LINGERS_MAX_S = 120.0
VARIANTS: Mapping[str, Mapping[str, str]] = MappingProxyType({"d": {}, "d-claims": {GPU: "1"}})
"""What pods ask for besides one CPU, by scenario."""
AIMS = MappingProxyType({"d": "at most 1.5", "d-claims": "at most 1.25"})


@dataclass(slots=True)
class Turns:
    """What was measured, over all turns."""

    seconds: float = 0.0
    floor_seconds: float = 0.0
    started: list[float] = field(default_factory=list)
    floor_started: list[float] = field(default_factory=list)
    writes: Counter[str] = field(default_factory=Counter)
    cpu: Counter[str] = field(default_factory=Counter)
    """CPU seconds, by part."""
    floor_cpu: Counter[str] = field(default_factory=Counter)

    def add(self, seen: JobWatch, seconds: float, used: Counter[str]) -> None:
        """Add a turn of the product."""
        self.started += [self.seconds + at for at in seen.started.values()]
        self.seconds += seconds
        self.cpu += used

    def add_floor(self, seen: JobWatch, seconds: float, used: Counter[str]) -> None:
        """Add a turn of the bare client."""
        self.floor_started += [self.floor_seconds + at for at in seen.started.values()]
        self.floor_seconds += seconds
        self.floor_cpu += used


def run(cluster: Cluster, name: str, count: int) -> Result:
    """Run one variant on a control plane that has the product's kinds."""
    asked = VARIANTS[name]
    nodes = make_nodes(cluster.api(), NODES, group="bench")
    _furnish(cluster, asked, nodes)
    found = asyncio.run(_turns(cluster, asked, count // TURNS))
    whole = count // TURNS * TURNS
    bound_s = -(-(whole // TURNS) // SLOTS) * RUNS_S * TURNS
    per_job = {f"writes per Job: {kind}": n / whole for kind, n in sorted(found.writes.items())}
    return Result(
        scenario=name,
        numbers={
            "Jobs": whole,
            "seconds": found.seconds,
            "Jobs per second": whole / found.seconds,
            "floor, seconds": found.floor_seconds,
            "bound by quota, seconds": bound_s,
            TIMES: found.seconds / max(found.floor_seconds, bound_s),
            **cpu.each(found.cpu, found.floor_cpu, whole, "Job"),
            **per_job,
        },
        admissions=sorted(found.started),
        curves={"floor": sorted(found.floor_started)},
        aims={TIMES: AIMS[name]},
    )


def _furnish(cluster: Cluster, asked: Mapping[str, str], nodes: list[str]) -> None:
    api = cluster.api()
    quota = {"cpu": str(SLOTS), **dict.fromkeys(asked, str(SLOTS))}
    for one in (flavor("default"), cluster_queue("bench", {"default": quota})):
        api.create(one)
    if GPU in asked:
        api.create(device_class(CLASS))
        api.create(device_flavor("default", CLASS))
        for node in nodes:
            api.create(resource_slice(node, devices=gpus(H100, DEVICES_EACH)))
    for turn in range(TURNS):
        for use in (load.NAMESPACE, FLOOR, WARM):
            name = f"{use}-{turn}"
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            if use != FLOOR:
                api.create(local_queue(name, "main", "bench"))


async def _turns(cluster: Cluster, asked: Mapping[str, str], count: int) -> Turns:
    found = Turns()
    async with client_of(cluster) as client:
        for turn in range(TURNS):
            meter = cpu.Meter(cluster)
            await meter.begin()
            seen, seconds = await Bare(client, f"{FLOOR}-{turn}", asked).run(count)
            await asyncio.sleep(LINGERS_S)
            found.add_floor(seen, seconds, meter.end())
            async with running_product(cluster):
                # Policies of the product are in force a while after it is ready.
                await _queued(client, f"{WARM}-{turn}", asked, 1)
                log, space = log_of(cluster), f"{load.NAMESPACE}-{turn}"
                await meter.begin()
                seen, seconds = await _queued(client, space, asked, count)
                await _all_written(log, space)
                found.add(seen, seconds, meter.end())
                found.writes += by_kind(log.writes(user=USER, namespace=space)) if log else {}
    return found


async def _all_written(log: AuditLog | None, space: str) -> None:
    """Wait until what could wait is written too."""
    known, patient_until = -1, time.monotonic() + LINGERS_MAX_S
    while time.monotonic() < patient_until:
        await asyncio.sleep(LINGERS_S)
        written = len(log.writes(user=USER, namespace=space)) if log else known
        if written == known:
            return
        known = written


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


async def _queued(
    client: Client, space: str, asked: Mapping[str, str], count: int
) -> tuple[JobWatch, float]:
    """Submit Jobs to the product, and see the last one end."""
    async with _watching(client, space, count) as seen:

        async def one(number: int) -> None:
            pods = Pods(cpu="1", run_s=int(RUNS_S), requests=asked)
            made = job(space, f"job-{number:05}", queue="main", pods=pods)
            await client.create(resources.JOBS.within(space), made)

        await in_parallel((partial(one, number) for number in range(count)), 16)
        await seen.all_ended.wait()
        wall_s = time.monotonic() - seen.start
    return seen, wall_s


@dataclass(frozen=True, slots=True)
class Bare:
    """Does for each Job what an admission must do, within the same number of slots."""

    client: Client
    space: str
    asked: Mapping[str, str]

    async def run(self, count: int) -> tuple[JobWatch, float]:
        """Run so many Jobs, and see the last one end."""
        slots = asyncio.Semaphore(SLOTS)
        async with _watching(self.client, self.space, count) as seen:

            async def one(number: int) -> None:
                name = f"job-{number:05}"
                item = load.Item(name=name, queue="bench", at=0.0, cpu=1, runs_s=RUNS_S)
                await self._admit(item, await self._create(name))
                async with slots:
                    target = resources.JOBS.at(name, self.space)
                    await self.client.patch_merge(target, {"spec": {"suspend": False}})
                    await seen.waiting.setdefault(name, asyncio.Event()).wait()
                await self._end(item)

            acts = (partial(one, number) for number in range(count))
            await in_parallel(acts, SLOTS + FLOOR_CLIENTS)
            wall_s = time.monotonic() - seen.start
        return seen, wall_s

    async def _create(self, name: str) -> str:
        """Create a Job, and with devices the template of the claim that it names."""
        pods = Pods(cpu="1", run_s=int(RUNS_S))
        made = job(self.space, name, pods=pods)
        if GPU in self.asked:
            pod = made["spec"]["template"]["spec"]
            pod["resourceClaims"] = [{"name": CLAIM, "resourceClaimTemplateName": name}]
            pod["containers"][0]["resources"]["claims"] = [{"name": CLAIM}]
        reply = await self.client.create(resources.JOBS.within(self.space), made)
        uid: str = json.loads(reply)["metadata"]["uid"]
        if GPU in self.asked:
            where = resources.RESOURCE_CLAIM_TEMPLATES.within(self.space)
            await self.client.create(where, _template(self.space, name, uid))
        return uid

    async def _admit(self, item: load.Item, uid: str) -> None:
        made = load.workload_object(item, self.space)
        made["metadata"]["labels"] = {"kueue.x-k8s.io/job-uid": uid}
        await self.client.create(resources.WORKLOADS.within(self.space), made)
        await self.client.patch_merge(self._status(item), {"status": admission(item)})

    async def _end(self, item: load.Item) -> None:
        conditions = [condition("QuotaReserved"), condition("Admitted"), condition("Finished")]
        await self.client.patch_merge(self._status(item), {"status": {"conditions": conditions}})

    def _status(self, item: load.Item) -> resources.Target:
        return resources.WORKLOADS.at(item.name, self.space, "status")


def _template(space: str, name: str, uid: str) -> Wire:
    """Return a template for one device, which goes with its Job."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}
    request = {"name": CLAIM, "exactly": {"deviceClassName": CLASS}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": space, "ownerReferences": [owner]},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
