"""Hooks and policies that are broken: a clear event, the deadline kept, and nobody blocked."""

import asyncio

import pytest

from tests.checkpoints.shell.save_harness import (
    Pods,
    checkpoint,
    objects,
    phase,
    saving,
    says,
    told,
    urgent,
)
from tests.controller.harness import MakeWorld, Wire, World, false, true


async def running(at: World) -> None:
    await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)


@pytest.mark.parametrize(
    ("said", "outcome", "reason"),
    [
        pytest.param(None, "Unresponsive", "CheckpointUnresponsive", id="it hangs"),
        pytest.param(
            {"answer": "Saved", "epoch": 0},
            "Unresponsive",
            "CheckpointUnresponsive",
            id="it answers to an old epoch",
        ),
        pytest.param(
            {"answer": "AlreadyFresh", "at": 1.0},
            "Failed",
            "CheckpointFailed",
            id="its fresh checkpoint is old, and it falls silent",
        ),
    ],
)
async def test_a_broken_hook_is_told_and_blocks_nobody(
    world: MakeWorld, said: Wire | None, outcome: str, reason: str
) -> None:
    def reply(pod: Wire, asked: Wire) -> Wire | None:
        return said

    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, reply).run())
        await at.make(*objects(ackDeadline="1s", heartbeat="1s"), saving())
        await running(at)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == outcome
        await told(at, "train", reason)
        playing.cancel()


async def test_a_pod_that_dies_while_it_saves_is_told_and_blocks_nobody(world: MakeWorld) -> None:
    # Over HTTP a pod's end is heard of before its Job counts none, as from another process.
    async with world(http=True) as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says({"answer": "Accepted"})).run())
        await at.make(*objects(heartbeat="60s"), saving())
        await running(at)
        await at.make(urgent())
        await checkpoint(at, phase("Saving"))
        (pod,) = (
            one for one in await at.list("Pod") if one["metadata"]["labels"]["app"] == "train"
        )
        await at.patch("Pod", pod["metadata"]["name"], {"status": {"phase": "Failed"}}, "status")
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Failed"
        assert pod["metadata"]["name"] in found["status"]["message"]
        await told(at, "train", "CheckpointFailed")
        playing.cancel()


async def test_a_uri_that_is_none_is_told_and_not_handed_on(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        answer = says({"answer": "Saved", "uri": "step 4, in my home", "step": 4})
        playing = group.create_task(Pods(at, answer).run())
        await at.make(*objects(), saving())
        await running(at)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["checkpoint"]["uri"] == ""
        await told(at, "train", "CheckpointSaved")
        events = [one for one in await at.list("Event") if one["reason"] == "CheckpointSaved"]
        assert any("is no URI" in one["note"] and one["type"] == "Warning" for one in events)
        await at.delete("Job", "urgent")
        back = await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        notes = back["spec"]["template"]["metadata"]["annotations"]
        assert "queueing.dev/checkpoint-uri" not in notes
        assert notes["queueing.dev/checkpoint-step"] == "4"
        playing.cancel()


async def test_a_policy_with_impossible_deadlines_is_not_used_and_told(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(*objects(saveDeadline="5s", heartbeat="1m"), saving())
        await at.until("CheckpointPolicy", "save", false("Active", "InvalidTerms"))
        await running(at)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        assert await at.list("Checkpoint") == []
        await told(at, "train", "CheckpointPolicyUnusable")
