"""Clients of the benchmark: the teams that submit, and the bare client that measures the floor."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from bench.load import NAMESPACE, Item, workload_object
from queueing.core.topology.assignment import HOSTNAME
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Added, Modified, Reflector, WatchEvent
from queueing.translate.wire import meta
from queueing.translate.wire.workloads import Workload

FLOOR_CLIENTS = 32
STAMP = "2026-01-01T00:00:00Z"
Wire = dict[str, Any]
T = TypeVar("T")


def condition(name: str) -> Wire:
    """Return a condition that is True."""
    return {
        "type": name,
        "status": "True",
        "reason": "Succeeded" if name == "Finished" else name,
        "message": "benchmark",
        "lastTransitionTime": STAMP,
    }


FINISHED: list[Wire] = [
    {"op": "add", "path": "/status/conditions/-", "value": condition("Finished")}
]
"""Ends a workload without reading it: the floor and the teams pay the same for it."""


def admission(item: Item) -> Wire:
    """Return the status that admits a workload: the one write that an admission is."""
    assignment: Wire = {
        "name": "main",
        "count": item.pods,
        "flavors": {"cpu": "default"},
        "resourceUsage": {"cpu": str(item.cpu)},
    }
    if item.level:
        host = {"domainCount": 1, "valuesPerLevel": [{"universal": "b0-r0-h00"}]}
        whole = {**host, "podCounts": {"universal": item.pods}}
        assignment["topologyAssignment"] = {"levels": [HOSTNAME], "slices": [whole]}
    return {
        "admission": {"clusterQueue": item.queue, "podSetAssignments": [assignment]},
        "conditions": [condition("QuotaReserved"), condition("Admitted")],
    }


async def in_parallel(acts: Iterable[Callable[[], Awaitable[None]]], clients: int) -> None:
    """Run all acts, so many at a time."""
    left = iter(acts)

    async def one() -> None:
        for act in left:
            await act()

    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(one())


async def floor(client: Client, items: list[Item], space: str) -> list[float]:
    """Do just the writes that nobody can do without, as fast as the server takes them."""
    start, admitted = time.monotonic(), list[float]()

    async def one(item: Item) -> None:
        made = workload_object(item, space)
        status = resources.WORKLOADS.at(item.name, space, "status")
        await client.create(resources.WORKLOADS.within(space), made)
        if not item.fits:
            return
        await client.patch_merge(status, {"status": admission(item)})
        admitted.append(time.monotonic() - start)
        await client.patch_json(status, FINISHED)

    await in_parallel((partial(one, item) for item in items), FLOOR_CLIENTS)
    return admitted


async def watched(client: Client, space: str, work: Awaitable[T]) -> tuple[T, float]:
    """Return what work came to, and its seconds, while a client watches Workloads as teams do.

    What the teams' watch costs the API server is the benchmark's, and nobody's merit or fault.
    """
    where = resources.WORKLOADS.within(space)
    seen = Reflector(client, where, Workload, lambda _: None)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(seen.run())
        await seen.synced.wait()
        start = time.monotonic()
        done = await work
        took_s = time.monotonic() - start
        watching.cancel()
    return done, took_s


@dataclass(slots=True)
class Teams:
    """Submit workloads when they come, and finish each when it has run for its time."""

    client: Client
    items: list[Item]
    admitted: dict[str, float] = field(default_factory=dict)
    created: dict[str, float] = field(default_factory=dict)
    _start: float = 0.0
    _left: int = 0
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _group: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)

    async def run(self, limit_s: float) -> float:
        """Return the seconds until everything was finished."""
        self._left = sum(item.fits for item in self.items)
        by_name = {item.name: item for item in self.items}
        watched = resources.WORKLOADS.within(NAMESPACE)
        seen = Reflector(self.client, watched, Workload, lambda event: self._see(event, by_name))
        async with asyncio.timeout(limit_s), self._group as group:
            watching = group.create_task(seen.run())
            await seen.synced.wait()
            self._start = time.monotonic()
            group.create_task(self._submit())
            await self._done.wait()
            watching.cancel()
        return time.monotonic() - self._start

    async def _submit(self) -> None:
        async def one(item: Item) -> None:
            await asyncio.sleep(max(0.0, self._start + item.at - time.monotonic()))
            self.created[item.name] = time.monotonic() - self._start
            await self.client.create(resources.WORKLOADS.within(NAMESPACE), workload_object(item))

        await in_parallel((partial(one, item) for item in self.items), FLOOR_CLIENTS)

    def _see(self, event: WatchEvent[Workload], by_name: dict[str, Item]) -> None:
        if not isinstance(event, Added | Modified):
            return
        found = event.object
        true = {one.type for one in found.status.conditions if one.status == "True"}
        name = found.metadata.name
        if "Admitted" in true and name in by_name and name not in self.admitted:
            self.admitted[name] = time.monotonic() - self._start
            self._group.create_task(self._finish(by_name[name]))

    async def _finish(self, item: Item) -> None:
        await asyncio.sleep(item.runs_s)
        status = resources.WORKLOADS.at(item.name, NAMESPACE, "status")
        await self.client.patch_json(status, FINISHED)
        self._left -= 1
        if not self._left:
            self._done.set()


class JobSpec(meta.Wire, frozen=True):
    """Whether a Job runs."""

    suspend: bool = False


class JobStatus(meta.Wire, frozen=True):
    """Whether it has ended."""

    conditions: list[meta.Condition] = []  # noqa: RUF012 - msgspec copies it


class Job(meta.Wire, frozen=True):
    """What is read of a Job."""

    metadata: meta.Meta
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


@dataclass(slots=True)
class JobWatch:
    """See Jobs of a namespace start and end."""

    expected: int
    started: dict[str, float] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    all_ended: asyncio.Event = field(default_factory=asyncio.Event)
    start: float = field(default_factory=time.monotonic)
    waiting: dict[str, asyncio.Event] = field(default_factory=dict)

    def see(self, event: WatchEvent[Job]) -> None:
        """Take in an event."""
        if not isinstance(event, Added | Modified):
            return
        job = event.object
        name = job.metadata.name
        if not job.spec.suspend and name not in self.started:
            self.started[name] = time.monotonic() - self.start
        if any(one.type == "Complete" and one.status == "True" for one in job.status.conditions):
            self.ended.add(name)
            self.waiting.setdefault(name, asyncio.Event()).set()
            if len(self.ended) == self.expected:
                self.all_ended.set()
