"""The client of scenario (i): it submits, ends what has run, and writes down what it sees.

It plays the part of Jobs, as Kueue's own runner does: one creator for each class of each queue, and
five writes at a time that end workloads. That a victim stopped need not be written by it: queueing
itself frees the quota of an evicted Workload that nobody owns.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import msgspec

from bench.history import Event, What
from bench.load import NAMESPACE, Item, workload_object
from bench.submitters import FINISHED
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.errors import ConflictError
from queueing.kube.reflector import Added, Modified, Reflector, WatchEvent
from queueing.translate.wire.workloads import Workload, WorkloadStatus

ENDS_AT_ONCE = 5
_PREEMPTOR = re.compile(r"\(UID: ([^,)]+)")


def changes(before: WorkloadStatus | None, now: WorkloadStatus) -> Iterator[What]:
    """Yield what happened to a workload between two looks at it; before the first there is none."""
    if before is None:
        yield What.CREATED
        before = WorkloadStatus()
    if now.is_true("Admitted") and not before.is_true("Admitted"):
        yield What.ADMITTED
    if evicted(now) > evicted(before):
        yield What.EVICTED
    if before.is_true("Finished"):
        return
    if now.is_true("Finished"):
        yield What.FINISHED
    elif before.is_true("QuotaReserved") and not now.is_true("QuotaReserved"):
        yield What.RELEASED


def evicted(status: WorkloadStatus) -> int:
    """Return how often a workload was evicted in its life."""
    stats = status.scheduling_stats
    return sum(one.count for one in stats.evictions) if stats is not None else 0


@dataclass(slots=True)
class Runner:
    """Submits workloads when they come, and ends each when it has run for its time in one piece."""

    client: Client
    items: Sequence[Item]
    events: list[Event] = field(default_factory=list)
    began: float = 0.0
    """The wall clock's time at the start of the run."""
    _start: float = 0.0
    _known: dict[str, Workload] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """Of workloads, by uid."""
    _left: int = 0
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _ends: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ENDS_AT_ONCE))
    _group: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)

    async def run(self, limit_s: float) -> float:
        """Return the seconds until everything was finished."""
        self._left = len(self.items)
        by_name = {item.name: item for item in self.items}
        where = resources.WORKLOADS.within(NAMESPACE)
        seen = Reflector(self.client, where, Workload, lambda event: self._see(event, by_name))
        async with asyncio.timeout(limit_s), self._group as group:
            watching = group.create_task(seen.run())
            await seen.synced.wait()
            self._start, self.began = time.monotonic(), time.time()
            for creator in self._creators():
                group.create_task(self._create(creator))
            await self._done.wait()
            watching.cancel()
        self._check()
        return self.events[-1].at

    def _creators(self) -> Iterator[list[Item]]:
        """Yield the items of one class of one queue, in the order in which they come."""

        def who(item: Item) -> tuple[str, str]:
            return (item.queue, item.size)

        for _, items in groupby(sorted(self.items, key=who), key=who):
            yield list(items)

    async def _create(self, items: list[Item]) -> None:
        for item in items:
            await asyncio.sleep(max(0.0, self._start + item.at - time.monotonic()))
            await self.client.create(resources.WORKLOADS.within(NAMESPACE), workload_object(item))

    def _see(self, event: WatchEvent[Workload], by_name: dict[str, Item]) -> None:
        if not isinstance(event, Added | Modified):
            return
        found = event.object
        name, at = found.metadata.name, time.monotonic() - self._start
        before, self._known[name] = self._known.get(name), found
        for what in changes(before.status if before else None, found.status):
            preemptor = ""
            if what is What.CREATED:
                self._names[found.metadata.uid] = name
            elif what is What.ADMITTED:
                self._group.create_task(self._end(by_name[name], found))
            elif what is What.EVICTED:
                preemptor = self._names[_preemptor(found.status)]
            elif what is What.FINISHED:
                self._left -= 1
            self.events.append(Event(at, what, name, preemptor))
        if not self._left:
            self._done.set()

    async def _end(self, item: Item, admitted: Workload) -> None:
        """Finish a workload that has run for its time, unless it is stopped before."""
        await asyncio.sleep(item.runs_s)
        where = resources.WORKLOADS.at(item.name, NAMESPACE, "status")
        async with self._ends:
            known = self._known[item.name]
            while evicted(known.status) == evicted(admitted.status):
                version = {
                    "op": "replace",
                    "path": "/metadata/resourceVersion",
                    "value": known.metadata.resource_version,
                }
                try:
                    await self.client.patch_json(where, [version, *FINISHED])
                except ConflictError:
                    found = await self.client.get(resources.WORKLOADS.at(item.name, NAMESPACE))
                    known = msgspec.json.decode(found, type=Workload)
                else:
                    return

    def _check(self) -> None:
        """See that the watch left no eviction out."""
        stored = sum(evicted(one.status) for one in self._known.values())
        told = sum(event.what is What.EVICTED for event in self.events)
        if stored != told:
            raise RuntimeError(f"{stored} evictions are stored, and {told} were seen")


def _preemptor(status: WorkloadStatus) -> str:
    """Return the uid of the preemptor that the condition `Preempted` names."""
    condition = status.true_condition("Preempted")
    found = _PREEMPTOR.search(condition.message) if condition is not None else None
    if found is None:
        raise ValueError(f"evicted by no preemptor: {status.conditions}")
    return found[1]
