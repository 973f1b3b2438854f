"""Whatever people do to a gang, and however often its controller dies: it runs in the end."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest

from queueing.kube.errors import NotFoundError
from tests.controller.gangs.gang_harness import GANG, SIZE, GangWorld, gang_world, is_over, member
from tests.controller.gangs.test_gangs import HIGH, NAMES, PREEMPTING, running
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue, job, true

DEEDS = 14
ENDLESS_S = 1e7


async def delete_a_job(w: GangWorld, dice: random.Random) -> None:
    await w.delete("Job", dice.choice(NAMES))


async def make_what_is_missing(w: GangWorld, _: random.Random) -> None:
    for name in NAMES:
        if name not in w.guard.jobs:
            await w.make(member(name, seconds=ENDLESS_S))


async def take_a_label_away(w: GangWorld, dice: random.Random) -> None:
    await w.patch("Job", dice.choice(NAMES), {"metadata": {"labels": {GANG: None}}})


async def change_a_size(w: GangWorld, dice: random.Random) -> None:
    body = {"metadata": {"annotations": {SIZE: dice.choice(["2", "three"])}}}
    await w.patch("Job", dice.choice(NAMES), body)


async def suspend_a_job(w: GangWorld, dice: random.Random) -> None:
    await w.patch("Job", dice.choice(NAMES), {"spec": {"suspend": True}})


async def delete_the_workload(w: GangWorld, dice: random.Random) -> None:
    names = sorted(w.guard.workloads)
    if names:
        await w.delete("Workload", dice.choice(names))


async def evict(w: GangWorld, dice: random.Random) -> None:
    high = {"kueue.x-k8s.io/priority-class": "high"}
    await w.make(job(f"urgent-{dice.getrandbits(40):x}", seconds=5, labels=high))


async def kill_the_controller(w: GangWorld, dice: random.Random) -> None:
    w.kill_before(dice.randrange(8))
    if await w.wait_killed(lambda: is_at_rest(w)):
        await w.restart()


Deed = Callable[[GangWorld, random.Random], Awaitable[None]]
ALL: tuple[Deed, ...] = (
    delete_a_job,
    make_what_is_missing,
    make_what_is_missing,
    take_a_label_away,
    change_a_size,
    suspend_a_job,
    delete_the_workload,
    evict,
    kill_the_controller,
    kill_the_controller,
)


def is_at_rest(w: GangWorld) -> bool:
    """Say whether nothing more will be written: the gang runs, or is not complete.

    Who left it may run alone. What size its Jobs name is asked only while it does not run.
    """
    jobs = [one for one in w.guard.jobs.values() if one["metadata"]["name"] in NAMES]
    members = [one for one in jobs if is_labelled(one)]
    if len(members) == len(NAMES) and (is_whole(w) or all(map(agrees, members))):
        return is_whole(w)
    return not w.guard.workloads or not any(map(running, members))


def has_moved(w: GangWorld, seen: int) -> bool:
    """Say whether anything was written since, or nothing will be."""
    return len(w.writes) > seen or is_at_rest(w)


def agrees(one: Wire) -> bool:
    """Say whether a Job names the size that the gang has."""
    return bool(one["metadata"]["annotations"].get(SIZE) == "3")


def is_whole(w: GangWorld) -> bool:
    live = [one for one in w.guard.workloads.values() if not true("Finished")(one)]
    return (
        all(name in w.guard.jobs and running(w.guard.jobs[name]) for name in NAMES)
        and [len(one["spec"]["podSets"]) for one in live] == [3]
        and true("PodsReady")(live[0])
    )


@pytest.mark.parametrize("seed", range(4))
async def test_a_gang_survives_a_storm(definitions: list[Wire], seed: int) -> None:
    dice = random.Random(seed)
    queue = cluster_queue("3", preemption=PREEMPTING)
    async with gang_world(definitions, queue, LOCAL_QUEUE, HIGH, speed=200.0) as w:
        await w.make(*(member(name, seconds=ENDLESS_S) for name in NAMES))
        for _ in range(DEEDS):
            with suppress(NotFoundError):
                await dice.choice(ALL)(w, dice)
            if dice.random() < 0.5:
                await w.eventually(partial(has_moved, w, len(w.writes)))
        await w.restart()
        await delete_those_that_left(w)
        await make_what_is_missing(w, dice)
        for name in NAMES:
            await w.patch("Job", name, {"metadata": {"annotations": {SIZE: "3"}}})
        await w.eventually(
            lambda: all(is_over(one) for one in w.guard.jobs.values() if is_urgent(one))
        )
        await w.eventually(lambda: is_whole(w))


async def delete_those_that_left(w: GangWorld) -> None:
    """Delete Jobs without the label: they may run alone by now, and would go on doing so."""
    alone = [name for name in NAMES if name in w.guard.jobs and not is_labelled(w.guard.jobs[name])]
    for name in alone:
        await w.delete("Job", name)
    await w.eventually(lambda: not any(name in w.guard.jobs for name in alone))


def is_labelled(one: Wire) -> bool:
    return bool(one["metadata"]["labels"].get(GANG) == "g")


def is_urgent(one: Wire) -> bool:
    return str(one["metadata"]["name"]).startswith("urgent")
