"""The controller is killed between two of its writes about a JobSet, and another one goes on."""

import pytest

from tests.controller.gangs.gang_harness import GangWorld, admitted, gang_world
from tests.controller.gangs.test_gangs import HIGH, PREEMPTING
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job
from tests.controller.kills import Kill, kill_before_each
from tests.controller.test_kinds import JOB_SET, ON, create, define, job_set, resource, runs

WRITES_MAX = 40


async def a_life(w: GangWorld, kill: Kill) -> None:
    """Start a JobSet and preempt it."""
    before = (await create(w, JOB_SET, job_set("set")))["spec"]

    def charged() -> list[str]:
        found = w.guard.workloads.items()
        return sorted(name.partition("-")[0] for name, one in found if admitted(one))

    await kill.until(lambda: charged() == ["jobset"])
    await kill.until(lambda: runs(w.guard.job_sets["set"]))
    await w.make(job("urgent", cpu="2", labels={"kueue.x-k8s.io/priority-class": "high"}))
    await kill.until(lambda: charged() == ["job"])
    assert w.guard.job_sets["set"]["spec"] == before
    await w.delete("Job", "urgent")
    await w.client.delete(resource(JOB_SET).at("set", "team"))
    await w.eventually(lambda: not w.guard.workloads)


async def test_a_kill_between_two_writes_is_continued_by_the_next_controller(
    definitions: list[Wire],
) -> None:
    await lives(range(0, WRITES_MAX, 3), definitions)


@pytest.mark.slow
async def test_so_is_a_kill_between_any_two_writes(definitions: list[Wire]) -> None:
    await lives(range(WRITES_MAX), definitions)


async def lives(writes: range, definitions: list[Wire]) -> None:
    queue = cluster_queue("2", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, **ON) as w:
        await define(w, JOB_SET)
        await kill_before_each(w, writes, a_life, more_than=7)
