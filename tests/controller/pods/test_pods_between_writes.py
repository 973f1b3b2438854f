"""Pods of a group come and go just as the controller writes something about it, at each write."""

import pytest

from queueing.apiserver.memory.history import WatchEvent
from queueing.apiserver.resources.resource import Resource
from queueing.kube.errors import NotFoundError
from tests.controller.gangs.gang_harness import (
    Disturb,
    GangWorld,
    conditions,
    disturbed,
    gang_world,
    may_run,
)
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue
from tests.controller.pods.pod_harness import ON, member

TOTAL = 2
WRITES_MAX = 30


async def another_comes(w: GangWorld) -> None:
    await w.make(member("c", TOTAL))


async def one_goes_for_good(w: GangWorld) -> None:
    """Delete a pod with all that holds it, and make another in its place."""
    await gone(w, "b")
    await w.make(member("d", TOTAL))


async def one_is_deleted(w: GangWorld) -> None:
    await w.delete("Pod", "b")
    await w.make(member("d", TOTAL))


async def gone(w: GangWorld, name: str) -> None:
    try:
        await w.delete("Pod", name)
        await w.patch("Pod", name, {"metadata": {"finalizers": None}})
    except NotFoundError:
        return


def running(w: GangWorld) -> list[str]:
    return sorted(name for name, one in w.guard.pods.items() if may_run(one))


def is_whole(w: GangWorld) -> bool:
    """Say whether a group has all its pods and no other, and all of them may run."""
    pods = w.guard.pods.values()
    alive = [one for one in pods if "deletionTimestamp" not in one["metadata"]]
    waits = conditions(w.guard.workloads.get("crew", {}))
    return len(running(w)) == len(alive) == TOTAL and "WaitingForReplacementPods" not in waits


@pytest.mark.parametrize("disturb", [another_comes, one_goes_for_good, one_is_deleted])
async def test_a_group_gets_the_pods_that_it_was_admitted_for_whoever_comes_or_goes(
    definitions: list[Wire], disturb: Disturb
) -> None:
    await disturb_at_each(range(0, WRITES_MAX, 4), definitions, disturb)


@pytest.mark.slow
@pytest.mark.parametrize("disturb", [another_comes, one_goes_for_good, one_is_deleted])
async def test_so_it_does_whenever_that_is(definitions: list[Wire], disturb: Disturb) -> None:
    await disturb_at_each(range(WRITES_MAX), definitions, disturb)


async def disturb_at_each(writes: range, definitions: list[Wire], disturb: Disturb) -> None:
    async with gang_world(definitions, cluster_queue("4"), LOCAL_QUEUE, **ON) as w:
        most: list[int] = [0]

        def changed(_: Resource, __: WatchEvent) -> None:
            most[0] = max(most[0], len(running(w)))

        w.server.store.on_change(changed)
        for write in writes:
            async with disturbed(w, write, disturb) as done:
                await w.make(member("a", TOTAL), member("b", TOTAL))
                await w.eventually(lambda: is_whole(w))
            await w.eventually(lambda: is_whole(w))
            for name in list(w.guard.pods):
                await gone(w, name)
            await w.eventually(lambda: not w.guard.workloads and not w.guard.pods)
            if not done:
                break
        assert 3 < write < WRITES_MAX - 3
        assert most == [TOTAL]
