"""How much of our code one Job goes through, from its watch event to the patch that starts it."""

import asyncio
import sys
from collections import Counter
from functools import reduce
from operator import and_
from pathlib import Path
from types import FrameType
from typing import Any

import queueing
from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    WAIT_S,
    MakeWorld,
    World,
    cluster_queue,
    job,
    true,
)
from tests.news import soon_after

PRODUCT = str(Path(queueing.__file__).parent) + "/"
BESIDE = (f"{PRODUCT}apiserver/", f"{PRODUCT}testing/")
"""What plays the server, and the loop of the test."""
MODULES_MAX = 70
CALLS_MAX = 600
ABSENT = {
    "credits",
    "checkpoints",
    "devices",
    "placement",
    "pod_owners",
    "pods",
    "variants",
}
"""Folders of features that a cluster without their objects does not go through."""
JOBS = 10
"""How many are measured. Of each function the fewest calls count: other work goes on meanwhile."""
OF_A_JOB = (
    "reflector jobs",
    "reflector workloads",
    "jobs ",
    "workloads ",
    "cycles",
    "write team/",
    "write event ",
)
"""How tasks are called that a Job goes through. Others, such as what writes statuses of queues, run
every now and then: often while a Job is slow."""
_GOES_ON = 8
"""Beyond this instruction a coroutine or generator is not called, but goes on."""


class Way:
    """Counts calls of functions of the product, without those of the embedded API server."""

    def __init__(self, name: str) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.ended = asyncio.Event()
        self.name = name

    def begin(self) -> None:
        sys.setprofile(self._note)

    def changed(self, resource: Resource, event: WatchEvent) -> None:
        """End with the change that unsuspends the Job."""
        found = event.after
        is_it = resource.key == "jobs.batch" and found["metadata"]["name"] == self.name
        if is_it and not found["spec"]["suspend"]:
            sys.setprofile(None)
            self.ended.set()

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        ours = path.startswith(PRODUCT) and not path.startswith(BESIDE)
        if event == "call" and ours and frame.f_lasti <= _GOES_ON and _is_of_a_job():
            self.calls[path.removeprefix(PRODUCT), frame.f_code.co_qualname] += 1


def _is_of_a_job() -> bool:
    task = asyncio.current_task()
    return task is None or task.get_name().startswith(OF_A_JOB)


def table(calls: Counter[tuple[str, str]]) -> str:
    """Return the calls by module, the modules with most of them first, each with its functions."""
    sums: Counter[str] = Counter()
    for (path, _), count in calls.items():
        sums[path] += count
    lines = []
    for path, total in sums.most_common():
        inside = [(count, name) for (where, name), count in calls.items() if where == path]
        told = ", ".join(f"{name} {count}" for count, name in sorted(inside, reverse=True))
        lines.append(f"{total:5} {path}: {told}")
    return "\n".join(lines)


async def _until_it_rests(w: World) -> None:
    """Wait until nothing more is written about the Job before, which would count as the next's."""
    async with asyncio.timeout(WAIT_S):
        while await _changes(w):
            pass


async def _changes(w: World) -> bool:
    news = w.news.next
    await soon_after(news)
    return news.is_set()


async def test_one_job_goes_through_few_modules_and_calls(world: MakeWorld) -> None:
    ways = [Way(f"measured-{number}") for number in range(JOBS)]
    async with world(http=True) as w:
        await w.make(FLAVOR, cluster_queue("64"), LOCAL_QUEUE, job("before"))
        await w.workload("before", true("PodsReady"))
        for way in ways:
            w.server.store.on_change(way.changed)
            way.begin()
            try:
                w.server.api.writes.create(job(way.name))
                async with asyncio.timeout(WAIT_S):
                    await way.ended.wait()
            finally:
                sys.setprofile(None)
            await w.workload(way.name, true("PodsReady"))
            await _until_it_rests(w)
    each = reduce(and_, (way.calls for way in ways))
    modules, calls = len({path for path, _ in each}), each.total()
    print(f"From the event of a Job to its start: {modules} modules, {calls} calls")
    print(table(each))
    assert modules <= MODULES_MAX
    assert calls <= CALLS_MAX
    absent = [path for path, _ in each if ABSENT & set(path.split("/"))]
    assert absent == [], "features that the cluster has no objects of"


async def test_one_job_is_started_by_three_writes_and_no_read(world: MakeWorld) -> None:
    seen: list[str] = []

    async def note(call: HttpRequest) -> None:
        about = any(kind in call.path for kind in ("/jobs", "/workloads"))
        if about and call.user_agent == "queueing" and "watch" not in call.query:
            kind = " dry" if call.dry_run else ""
            seen.append(f"{call.method}{kind} {call.path.partition('/namespaces/')[2]}")

    way = Way("one")
    async with world(intercept=note, http=True) as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE)
        await w.until("ClusterQueue", "cq", true("Active"))
        w.server.store.on_change(way.changed)
        seen.clear()
        w.server.api.writes.create(job("one"))
        async with asyncio.timeout(WAIT_S):
            await way.ended.wait()
        (workload,) = await w.list("Workload")
    name = workload["metadata"]["name"]
    assert seen[:3] == [
        "POST team/workloads",
        f"PATCH team/workloads/{name}/status",
        "PATCH team/jobs/one",
    ]
