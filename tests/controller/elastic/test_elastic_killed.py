"""The controller is killed between two of its writes about an elastic job, and another goes on."""

from collections.abc import Callable

import pytest

from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.resources.resource import Resource
from tests.controller.elastic.test_elastic_jobs import HIGH, PREEMPTS, count, elastic, is_gated
from tests.controller.elastic.test_elastic_jobs import scale as scaled
from tests.controller.gangs.gang_harness import GangWorld, admitted, conditions, gang_world
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job
from tests.controller.kills import Kill, kill_before_each

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


async def a_life(w: GangWorld, kill: Kill) -> None:
    """Grow a job, preempt it, shrink and end it."""

    def runs(pods: int) -> Callable[[], bool]:
        def done() -> bool:
            counts = [count(one) for one in of_a(w) if admitted(one)]
            return counts == [pods] and len(of_a(w)) == 1 and len(let_go(w)) == pods

        return done

    await w.make(elastic("a", 1))
    await kill.until(runs(1))
    await scaled(w, "a", 3)
    await kill.until(runs(3))
    await scaled(w, "a", 4)
    await kill.until(lambda: [count(one) for one in of_a(w)] in ([3, 4], [4, 3]))
    await w.make(job("urgent", cpu="2", labels={"kueue.x-k8s.io/priority-class": "high"}))
    await kill.until(lambda: not let_go(w) and any(map(admitted, w.guard.workloads.values())))
    await scaled(w, "a", 2)
    await w.delete("Job", "urgent")
    await kill.until(runs(2))
    await scaled(w, "a", 1)
    await kill.until(runs(1))
    await w.delete("Job", "a")
    await kill.until(lambda: not w.guard.workloads and not w.guard.pods)


async def test_a_kill_between_two_writes_is_continued_by_the_next_controller(
    definitions: list[Wire],
) -> None:
    await lives(range(0, WRITES_MAX, 9), definitions)


@pytest.mark.slow
async def test_so_is_a_kill_between_any_two_writes(definitions: list[Wire]) -> None:
    await lives(range(WRITES_MAX), definitions)


async def lives(writes: range, definitions: list[Wire]) -> None:
    queue = cluster_queue(str(QUOTA), **PREEMPTS)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH) as w:
        wrong = watched(w)
        await kill_before_each(w, writes, a_life, more_than=10)
        assert wrong == []
