"""Scenarios of pods: by themselves and in groups, beside a floor; and who pays for pods of others.

The floor and the product run on one control plane, one after the other. Memory is measured around
the creation of pods that nobody queues, which a gate of their own keeps from running.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from bench import cpu, load
from bench.results import TIMES, Result
from bench.stage import LIMIT_S, USER, client_of, log_of, running_product, settled
from bench.submitters import FLOOR_CLIENTS, Wire, condition, in_parallel
from e2e.cluster import Cluster
from e2e.nodes import make_nodes
from e2e.objects import Pods, cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.writes import by_kind
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Added, Modified, Reflector, WatchEvent
from queueing.translate.jobs.pods.view import PodJob, read_pod

SLOTS = 200
RUNS_S = 1.0
NODES = 8
SUBMITTERS = 16
GROUP_SIZES: Mapping[str, int] = MappingProxyType({"pods": 1, "pod-groups": 8})
"""How many pods of a group there are, by scenario; 1 for pods by themselves."""
MEMORY = "pods-of-others"
OTHERS_EACH = 5
"""Pods of others, for each that scenario (pods) would have; 10,000 at full size."""
SETTINGS = {"integrations": {"frameworks": ["batch/job", "pod"]}}
QUEUED, FLOOR, WARM, FOREIGN = load.NAMESPACE, "floor", "warm", "foreign"
NAMES = (*GROUP_SIZES, MEMORY)


def run(cluster: Cluster, name: str, count: int) -> Result:
    """Run one scenario, with so many pods, on a control plane that has the product's kinds."""
    api = cluster.api()
    for space in (QUEUED, FLOOR, WARM, FOREIGN):
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    if name == MEMORY:
        return asyncio.run(_memory(cluster, count * OTHERS_EACH))
    make_nodes(api, NODES, group="bench")
    for one in (flavor("default"), cluster_queue("bench", {"default": {"cpu": str(SLOTS)}})):
        api.create(one)
    for space in (QUEUED, WARM):
        api.create(local_queue(space, "main", "bench"))
    size = GROUP_SIZES[name]
    return asyncio.run(_beside_the_floor(cluster, name, [size] * (count // size)))


@dataclass(slots=True)
class Watch:
    """Sees the pods of a namespace start and end."""

    expected: int
    start: float = field(default_factory=time.monotonic)
    started: dict[str, float] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    waiting: dict[str, asyncio.Event] = field(default_factory=dict)
    all_ended: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, event: WatchEvent[PodJob]) -> None:
        """Take in an event."""
        if not isinstance(event, Added | Modified):
            return
        name, pod = event.object.metadata.name, event.object
        if not pod.gates and name not in self.started:
            self.started[name] = time.monotonic() - self.start
        if pod.ended:
            self.ended.add(name)
            self.waiting.setdefault(name, asyncio.Event()).set()
            if len(self.ended) == self.expected:
                self.all_ended.set()


@asynccontextmanager
async def _watching(client: Client, space: str, count: int) -> AsyncIterator[Watch]:
    seen = Watch(count)
    reflector = Reflector(client, resources.PODS.within(space), read_pod, seen.see)
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        watching = group.create_task(reflector.run())
        await reflector.synced.wait()
        seen.start = time.monotonic()
        yield seen
        watching.cancel()


def _members(sizes: list[int]) -> Iterator[tuple[str, str, int]]:
    """Yield each pod: its name, that of its group (empty for none), and the group's size."""
    for number, size in enumerate(sizes):
        group = f"group-{number:05}" if size > 1 else ""
        for place in range(size):
            yield f"pod-{number:05}-{place}", group, size


def _pod(space: str, name: str, group: str, size: int) -> Wire:
    made = Pods(cpu="1", run_s=RUNS_S).template()
    notes, labels = made["metadata"]["annotations"], dict[str, str]()
    if group:
        labels["kueue.x-k8s.io/pod-group-name"] = group
        notes["kueue.x-k8s.io/pod-group-total-count"] = str(size)
    meta = {"name": name, "namespace": space, "labels": labels, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", **made, "metadata": meta}


async def _queued(client: Client, space: str, sizes: list[int]) -> tuple[Watch, float]:
    """Submit pods to the product, and see the last one end."""
    async with _watching(client, space, sum(sizes)) as seen:

        async def one(name: str, group: str, size: int) -> None:
            made = _pod(space, name, group, size)
            made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "main"
            await client.create(resources.PODS.within(space), made)

        await in_parallel((partial(one, *member) for member in _members(sizes)), SUBMITTERS)
        await seen.all_ended.wait()
        wall_s = time.monotonic() - seen.start
    return seen, wall_s


async def _bare(client: Client, space: str, sizes: list[int]) -> tuple[Watch, float]:
    """Do just the writes that nobody can do without, within the same number of slots.

    Pods of a group start together: one Workload and one admission are theirs.
    """
    slots = asyncio.Semaphore(SLOTS // max(sizes))
    async with _watching(client, space, sum(sizes)) as seen:

        async def one(number: int, size: int) -> None:
            members = [
                (name, group)
                for name, group, _ in _members([0] * number + [size])
                if name.startswith(f"pod-{number:05}-")
            ]
            for name, group in members:
                made = _pod(space, name, group, size)
                made["spec"]["schedulingGates"] = [{"name": "bench/gate"}]
                await client.create(resources.PODS.within(space), made)
            workload = f"workload-{number:05}"
            item = load.Item(name=workload, queue="bench", at=0.0, cpu=1, runs_s=RUNS_S)
            status = resources.WORKLOADS.at(workload, space, "status")
            made = load.workload_object(item, space)
            made["spec"]["podSets"][0]["count"] = size
            await client.create(resources.WORKLOADS.within(space), made)
            async with slots:
                await client.patch_merge(status, {"status": _admission(size)})
                for name, _ in members:
                    target = resources.PODS.at(name, space)
                    await client.patch_merge(target, {"spec": {"schedulingGates": None}})
                for name, _ in members:
                    await seen.waiting.setdefault(name, asyncio.Event()).wait()
            await client.patch_merge(status, {"status": {"conditions": [condition("Finished")]}})

        acts = (partial(one, number, size) for number, size in enumerate(sizes))
        await in_parallel(acts, SLOTS // max(sizes) + FLOOR_CLIENTS)
        wall_s = time.monotonic() - seen.start
    return seen, wall_s


def _admission(size: int) -> Wire:
    assignment = {
        "name": "main",
        "count": size,
        "flavors": {"cpu": "default"},
        "resourceUsage": {"cpu": str(size)},
    }
    return {
        "admission": {"clusterQueue": "bench", "podSetAssignments": [assignment]},
        "conditions": [condition("QuotaReserved"), condition("Admitted")],
    }


async def _beside_the_floor(cluster: Cluster, name: str, sizes: list[int]) -> Result:
    meter, count = cpu.Meter(cluster), sum(sizes)
    async with client_of(cluster) as client:
        await meter.begin()
        bare, floor_s = await _bare(client, FLOOR, sizes)
        floor_used = meter.end()
        async with running_product(cluster, settings=SETTINGS) as controller:
            # Policies of the product are in force a while after it is ready.
            await _queued(client, WARM, sizes[:1])
            await settled(log_of(cluster))
            log, before = log_of(cluster), _mebibytes(controller)
            await meter.begin()
            seen, seconds = await _queued(client, QUEUED, sizes)
            await settled(log)
            used, after = meter.end(), _mebibytes(controller)
            writes = by_kind(log.writes(user=USER, namespace=QUEUED)) if log else {}
    bound_s = -(-count // SLOTS) * RUNS_S
    per_pod = {f"writes per pod: {kind}": n / count for kind, n in sorted(writes.items())}
    return Result(
        scenario=name,
        numbers={
            "pods": count,
            "seconds": seconds,
            "pods per second": count / seconds,
            "floor, seconds": floor_s,
            "bound by quota, seconds": bound_s,
            TIMES: seconds / max(floor_s, bound_s),
            **cpu.each(used, floor_used, count, "pod"),
            **per_pod,
            "MiB before": before,
            "MiB afterwards": after,
        },
        admissions=sorted(seen.started.values()),
        curves={"floor": sorted(bare.started.values())},
        aims={TIMES: "at most 1.5"},
    )


async def _memory(cluster: Cluster, count: int) -> Result:
    """Measure the product's memory without and with pods of others, also after a start."""
    async with client_of(cluster) as client:

        async def one(number: int) -> None:
            made = _pod(FOREIGN, f"other-{number:05}", "", 1)
            made["spec"]["schedulingGates"] = [{"name": "bench/gate"}]
            await client.create(resources.PODS.within(FOREIGN), made)

        async with running_product(cluster, settings=SETTINGS) as controller:
            await settled(log_of(cluster))
            alone = _mebibytes(controller)
            start = time.monotonic()
            await in_parallel((partial(one, number) for number in range(count)), SUBMITTERS)
            seconds = time.monotonic() - start
            await settled(log_of(cluster))
            beside = _mebibytes(controller)
        async with running_product(cluster, settings=SETTINGS) as controller:
            await settled(log_of(cluster))
            after_a_start = _mebibytes(controller)
    return Result(
        scenario=MEMORY,
        numbers={
            "pods of others": count,
            "created per second": count / seconds,
            "MiB without them": alone,
            "MiB when they have come": beside,
            "MiB after a start beside them": after_a_start,
        },
    )


def _mebibytes(controller: Controller) -> float:
    """Return the resident memory of all processes of a replica."""
    found = 0
    for folder in cpu.folders_of(controller.process.pid):
        try:
            fields = (folder / "status").read_text().split("VmRSS:")[1].split()
            found += int(fields[0])
        except (OSError, IndexError):
            continue  # it ended while we looked
    return found / 1024
