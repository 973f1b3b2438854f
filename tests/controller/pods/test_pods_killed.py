"""The controller is killed between two of its writes about pods, and another one goes on."""

import pytest

from tests.controller.gangs.gang_harness import GangWorld, admitted, gang_world, may_run
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job
from tests.controller.kills import Kill, kill_before_each
from tests.controller.pods.pod_harness import HIGH, ON, PREEMPTING, member, pod

WRITES_MAX = 60


async def a_life(w: GangWorld, kill: Kill) -> None:
    """Start a group and a pod, preempt, replace and end them."""

    async def until(running: set[str], workloads: set[str]) -> None:
        def done() -> bool:
            run = {name for name, one in w.guard.pods.items() if may_run(one)}
            charged = {name for name, one in w.guard.workloads.items() if admitted(one)}
            return run == running and {one.partition("-")[0] for one in charged} == workloads

        await kill.until(done)

    await w.make(member("a", 2), member("b", 2), pod("one"))
    await until({"a", "b", "one"}, {"crew", "pod"})
    urgent = {"kueue.x-k8s.io/priority-class": "high"}
    await w.make(job("urgent", cpu="3", labels=urgent))
    await until(set(), {"job"})
    await w.delete("Job", "urgent")
    await w.make(member("c", 2), member("d", 2))
    await until({"c", "d"}, {"crew"})
    for name in ("c", "d"):
        await w.delete("Pod", name)
    await until(set(), set())
    await w.eventually(lambda: not w.guard.workloads and not w.guard.pods)
    assert w.guard.violations == []


async def test_a_kill_between_two_writes_is_continued_by_the_next_controller(
    definitions: list[Wire],
) -> None:
    await lives(range(0, WRITES_MAX, 5), definitions)


@pytest.mark.slow
async def test_so_is_a_kill_between_any_two_writes(definitions: list[Wire]) -> None:
    await lives(range(WRITES_MAX), definitions)


async def lives(writes: range, definitions: list[Wire]) -> None:
    queue = cluster_queue("3", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, **ON) as w:
        await kill_before_each(w, writes, a_life, more_than=15)
