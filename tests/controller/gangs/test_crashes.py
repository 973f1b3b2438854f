"""The controller is killed between any two of its writes, and another one goes on."""

from collections.abc import Awaitable, Callable

import pytest

from tests.controller.gangs.gang_harness import GangWorld, gang_world, member
from tests.controller.gangs.test_gangs import HIGH, NAMES, PREEMPTING, as_it_came, only, running
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job, true
from tests.controller.kills import Kill, kill_before_each

Step = Callable[[GangWorld], Awaitable[Callable[[], bool]]]
WRITES_MAX = 60


async def start(w: GangWorld) -> Callable[[], bool]:
    """Submit a gang."""
    await w.make(*(member(name) for name in NAMES))
    return only(w, true("PodsReady"))


async def lose_a_member(w: GangWorld) -> Callable[[], bool]:
    """Delete a member of the running gang."""
    await w.delete("Job", "b")
    return lambda: len(w.guard.jobs) == 2 and w.all(as_it_came)() and not w.guard.workloads


async def make_way_and_return(w: GangWorld) -> Callable[[], bool]:
    """Preempt the gang by something that soon ends."""
    high = {"kueue.x-k8s.io/priority-class": "high"}
    await w.make(job("urgent", seconds=2, labels=high))

    def back() -> bool:
        gang = [one for one in w.guard.workloads.values() if "gang" in one["metadata"]["name"]]
        others = [one for one in w.guard.workloads.values() if one not in gang]
        return (
            all(true("Finished")(one) for one in others)
            and len(others) == 1
            and all(running(w.guard.jobs[name]) for name in NAMES)
            and [true("PodsReady")(one) for one in gang] == [True]
        )

    return back


STEPS = pytest.mark.parametrize(
    ("before", "step"),
    [
        pytest.param((), start, id="while it starts"),
        pytest.param((start,), lose_a_member, id="while it is undone"),
        pytest.param((start,), make_way_and_return, id="while it makes way and returns"),
    ],
)


async def lives(
    writes: range, definitions: list[Wire], before: tuple[Step, ...], step: Step
) -> None:
    """Kill the controller before each of these writes of a step, until it has no more."""

    async def a_life(w: GangWorld, kill: Kill) -> None:
        for earlier in before:
            await w.eventually(await earlier(w))
        await kill.through(lambda: step(w))
        for name in list(w.guard.jobs):
            await w.delete("Job", name)
        await w.eventually(lambda: not w.guard.jobs and not w.guard.workloads)

    queue = cluster_queue("3", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, http=True) as w:
        await kill_before_each(w, writes, a_life, more_than=6)


@STEPS
async def test_a_kill_between_two_writes_is_continued_by_the_next_controller(
    definitions: list[Wire], before: tuple[Step, ...], step: Step
) -> None:
    await lives(range(1, WRITES_MAX, 4), definitions, before, step)


@pytest.mark.slow
@STEPS
async def test_so_is_a_kill_between_any_two_writes(
    definitions: list[Wire], before: tuple[Step, ...], step: Step
) -> None:
    await lives(range(WRITES_MAX), definitions, before, step)
