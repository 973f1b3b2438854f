"""Somebody changes or deletes an elastic job just as the controller writes about it."""

import pytest

from queueing.kube.errors import NotFoundError
from tests.controller.elastic.test_elastic_jobs import count, elastic, scale
from tests.controller.elastic.test_elastic_killed import let_go, of_a, watched
from tests.controller.gangs.gang_harness import Disturb, GangWorld, admitted, disturbed, gang_world
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue

WRITES_MAX = 40


async def deleted(w: GangWorld) -> None:
    await w.delete("Job", "a")


async def wants_less(w: GangWorld) -> None:
    await scale(w, "a", 1)


async def wants_more(w: GangWorld) -> None:
    await scale(w, "a", 4)


async def loses_a_pod(w: GangWorld) -> None:
    for one in let_go(w)[:1]:
        await w.delete("Pod", one["metadata"]["name"])


def is_settled(w: GangWorld) -> bool:
    """Say whether a job, if it is there, runs with as many pods as its one slice is for."""
    job = w.guard.jobs.get("a")
    if job is None:
        return not w.guard.workloads and not w.guard.pods
    wanted = job["spec"]["parallelism"]
    return [count(one) for one in of_a(w) if admitted(one)] == [wanted] == [len(let_go(w))]


async def disturb_at_each(writes: range, definitions: list[Wire], disturb: Disturb) -> None:
    async with gang_world(definitions, cluster_queue("4"), LOCAL_QUEUE) as w:
        wrong = watched(w)
        for write in writes:
            async with disturbed(w, write, disturb) as done:
                await w.make(elastic("a", 2))
                await w.eventually(lambda: is_settled(w))
                if "a" in w.guard.jobs and not done:
                    await scale(w, "a", 3)
                await w.eventually(lambda: is_settled(w))
            await w.eventually(lambda: is_settled(w))
            try:
                await w.delete("Job", "a")
            except NotFoundError:
                assert disturb is deleted
            await w.eventually(lambda: not w.guard.workloads and not w.guard.pods)
            if not done:
                break
        assert 3 < write < WRITES_MAX - 3
        assert wrong == []


@pytest.mark.parametrize("disturb", [deleted, loses_a_pod])
async def test_an_elastic_job_is_what_it_was_told_last_and_leaves_nothing(
    definitions: list[Wire], disturb: Disturb
) -> None:
    await disturb_at_each(range(2, WRITES_MAX, 10), definitions, disturb)


@pytest.mark.slow
@pytest.mark.parametrize("disturb", [deleted, wants_less, wants_more, loses_a_pod])
async def test_so_it_is_whenever_that_happens(definitions: list[Wire], disturb: Disturb) -> None:
    await disturb_at_each(range(WRITES_MAX), definitions, disturb)
