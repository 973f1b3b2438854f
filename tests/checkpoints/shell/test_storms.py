"""Many victims at once: each is asked, and one that hangs keeps only its own preemptor waiting."""

import asyncio
from collections.abc import Callable

import pytest

from tests.checkpoints.shell.save_harness import (
    POLICY,
    PREEMPTS,
    Pods,
    policy,
    priority,
    saving,
    urgent,
)
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    WAIT_S,
    MakeWorld,
    Wire,
    World,
    cluster_queue,
    true,
)

LOOK_EVERY_S = 0.2
ENDLESS_S = 1_000_000


async def counted(at: World, kind: str, holds: Callable[[Wire], bool], wanted: int) -> None:
    """Wait until so many objects are in some state, as long as it takes while they get more."""
    most, ends, clock = -1, 0.0, at.clock
    while most < wanted:
        found = sum(holds(one) for one in await at.list(kind))
        if found > most:
            most, ends = found, clock.monotonic() + WAIT_S
        assert clock.monotonic() < ends, f"{found} of {wanted}"
        await asyncio.sleep(LOOK_EVERY_S)


def runs(one: Wire) -> bool:
    return bool(one.get("status", {}).get("active", 0))


def is_urgent_and_runs(one: Wire) -> bool:
    return str(one["metadata"]["name"]).startswith("urgent") and runs(one)


def has_saved(one: Wire) -> bool:
    return bool(one.get("status", {}).get("outcome") == "Saved")


@pytest.mark.parametrize(
    "victims",
    [
        pytest.param(10, marks=pytest.mark.slow, id="ten"),
        pytest.param(60, marks=pytest.mark.slow, id="sixty"),
    ],
)
async def test_every_victim_of_a_storm_saves_and_one_that_hangs_delays_nobody_else(
    world: MakeWorld, victims: int
) -> None:
    hangs = {"train-0"}

    def reply(pod: Wire, asked: Wire) -> Wire | None:
        name = pod["metadata"]["labels"]["app"]
        return None if name in hangs else {"answer": "Saved", "uri": "s3://b/1", "step": 1}

    queue = cluster_queue(str(victims), preemption=PREEMPTS)
    queue["metadata"]["annotations"] = {POLICY: "team/save"}
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, reply, every_s=LOOK_EVERY_S).run())
        # No deadline passes in this test, however slow the machine: counts alone decide.
        patient = policy(ackDeadline="24h", saveDeadline="24h")
        await at.make(FLAVOR, queue, LOCAL_QUEUE, priority("urgent", 100), patient)
        shape: Wire = {"cpu": "1", "seconds": ENDLESS_S}
        await at.make(*(saving(f"train-{number}", **shape) for number in range(victims)))
        await counted(at, "Job", runs, victims)
        await at.make(*(urgent(f"urgent-{number}", **shape) for number in range(victims)))
        await counted(at, "Checkpoint", has_saved, victims - 1)
        await counted(at, "Job", is_urgent_and_runs, victims - 1)
        asked = [one for one in await at.list("Checkpoint") if not has_saved(one)]
        assert [one["status"]["phase"] for one in asked] == ["Notified"]
        assert true("Evicted")(await at.get("Workload", asked[0]["spec"]["workload"]["name"]))
        hangs.clear()
        await counted(at, "Job", is_urgent_and_runs, victims)
        assert len(await at.list("Checkpoint")) == victims
        playing.cancel()
