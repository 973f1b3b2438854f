"""Many victims at once: each is asked, and one that hangs keeps only its own preemptor waiting."""

import asyncio

import pytest

from tests.controller.checkpoints.save_harness import (
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
    MakeWorld,
    Wire,
    cluster_queue,
    true,
)


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
    def reply(pod: Wire, asked: Wire) -> Wire | None:
        hangs = pod["metadata"]["labels"]["app"] == "train-0"
        return None if hangs else {"answer": "Saved", "uri": "s3://b/1", "step": 1}

    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, reply).run())
        queue = cluster_queue(str(victims), preemption=PREEMPTS)
        await at.make(FLAVOR, queue, LOCAL_QUEUE, priority("urgent", 100), policy(ackDeadline="8s"))
        await at.make(*(saving(f"train-{number}", cpu="1") for number in range(victims)))
        for number in range(victims):
            await at.until(
                "Job", f"train-{number}", lambda one: one.get("status", {}).get("active", 0) > 0
            )
        await at.make(*(urgent(f"urgent-{number}", cpu="1") for number in range(victims)))
        async with asyncio.timeout(60):
            while True:
                found = await at.list("Checkpoint")
                done = [one.get("status", {}).get("outcome") for one in found]
                if done.count("Saved") == victims - 1:
                    break
                await asyncio.sleep(0.05)
        assert None in done, "the one that hangs is still asked"
        for number in range(victims):
            await at.workload(f"urgent-{number}", true("Admitted"))
        every = await at.list("Checkpoint")
        outcomes = [one.get("status", {}).get("outcome") for one in every]
        assert outcomes.count("Unresponsive") == 1
        assert len(every) == victims
        playing.cancel()
