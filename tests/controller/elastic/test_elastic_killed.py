"""The controller is killed between two of its writes about an elastic job, and another goes on."""

from collections.abc import Callable

import pytest

from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.resources.resource import Resource
from tests.controller.elastic.test_elastic_jobs import HIGH, PREEMPTS, count, elastic, is_gated
from tests.controller.elastic.test_elastic_jobs import scale as scaled
from tests.controller.gangs.gang_harness import GangWorld, admitted, conditions, gang_world
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job

WRITES_MAX = 60
QUOTA = 3


def of_a(w: GangWorld) -> list[Wire]:
    """Return the slices of the elastic job that have not finished."""
    found = [one for name, one in w.guard.workloads.items() if name.startswith("job-a-")]
    return [one for one in found if "Finished" not in conditions(one)]


def let_go(w: GangWorld) -> list[Wire]:
    """Return the pods of the elastic job that run, or may."""
    return [
        one
        for name, one in w.guard.pods.items()
        if name.startswith("a-")
        and not is_gated(one)
        and "deletionTimestamp" not in one["metadata"]
        and one.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    ]


def watched(w: GangWorld) -> list[str]:
    """Return what is found to be wrong from now on: pods that nothing admitted covers."""
    wrong: list[str] = []

    def changed(resource: Resource, event: WatchEvent) -> None:
        covered = max((count(one) for one in of_a(w) if admitted(one)), default=0)
        if len(let_go(w)) > covered:
            what = f"{event.change} {resource.key} {event.after['metadata']['name']}"
            wrong.append(f"after {what}: {len(let_go(w))} pods run, {covered} are admitted")

    w.server.store.on_change(changed)
    return wrong


async def a_life(w: GangWorld, write: int) -> bool:
    """Grow a job, preempt it, shrink and end it, with a kill instead of one write.

    Returns whether there was so late a write.
    """
    rest: list[int] = [write]

    async def until(done: Callable[[], bool]) -> None:
        if rest:
            before = len(w.writes)
            w.kill_before(rest[0])
            if await w.wait_killed(done):
                rest.clear()
                await w.restart()
            else:
                rest[0] -= len(w.writes) - before
        await w.eventually(done)

    def runs(pods: int) -> Callable[[], bool]:
        def done() -> bool:
            counts = [count(one) for one in of_a(w) if admitted(one)]
            return counts == [pods] and len(of_a(w)) == 1 and len(let_go(w)) == pods

        return done

    await w.make(elastic("a", 1))
    await until(runs(1))
    await scaled(w, "a", 3)
    await until(runs(3))
    await scaled(w, "a", 4)
    await until(lambda: [count(one) for one in of_a(w)] in ([3, 4], [4, 3]))
    await w.make(job("urgent", cpu="2", labels={"kueue.x-k8s.io/priority-class": "high"}))
    await until(lambda: not let_go(w) and any(map(admitted, w.guard.workloads.values())))
    await scaled(w, "a", 2)
    await w.delete("Job", "urgent")
    await until(runs(2))
    await scaled(w, "a", 1)
    await until(runs(1))
    await w.delete("Job", "a")
    await until(lambda: not w.guard.workloads and not w.guard.pods)
    return not rest


async def test_a_kill_between_two_writes_is_continued_by_the_next_controller(
    definitions: list[Wire],
) -> None:
    await kill_before_each(range(0, WRITES_MAX, 9), definitions)


@pytest.mark.slow
async def test_so_is_a_kill_between_any_two_writes(definitions: list[Wire]) -> None:
    await kill_before_each(range(WRITES_MAX), definitions)


async def kill_before_each(writes: range, definitions: list[Wire]) -> None:
    queue = cluster_queue(str(QUOTA), **PREEMPTS)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, http=True) as w:
        wrong = watched(w)
        for write in writes:
            if not await a_life(w, write):
                break
        assert 10 < write < WRITES_MAX - 3
        assert wrong == []
