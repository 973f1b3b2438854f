import asyncio
from typing import Any

import pytest

from queueing.apiserver.simulation.annotations import RUN_SECONDS
from tests.checkpoints.shell.save_harness import (
    POLICY,
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


def saved(pod: Wire, asked: Wire) -> Wire:
    return {"answer": "Saved", "uri": "s3://bucket/step-40", "step": 40}


async def preempted(world: World, **more: Any) -> None:
    """Have a training Job preempted by an urgent one."""
    await world.make(saving(**more))
    await world.workload("train", true("Admitted"))
    await world.until("Job", "train", lambda one: one["status"].get("active", 0) > 0)
    await world.make(urgent())


async def test_a_preempted_job_saves_before_it_is_stopped_and_returns_where_it_was(
    world: MakeWorld,
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, saved)
        playing = group.create_task(pods.run())
        await at.make(*objects())
        await preempted(at)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["step"] == 40
        assert found["spec"]["epoch"] == 1
        assert [one["requestID"] for one in pods.asked] == [found["spec"]["requestID"]]
        wanted = ("CheckpointRequested", "CheckpointSaved", "CheckpointGraceTooLong")
        await told(at, "train", *wanted)
        await at.delete("Job", "urgent")
        back = await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        notes = back["spec"]["template"]["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-uri"] == "s3://bucket/step-40"
        assert notes["queueing.dev/checkpoint-step"] == "40"
        playing.cancel()


async def test_a_job_runs_on_while_it_saves(world: MakeWorld) -> None:
    accepted = {"answer": "Accepted"}
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, says(accepted))
        playing = group.create_task(pods.run())
        await at.make(*objects(heartbeat="20s"))
        await preempted(at)
        await checkpoint(at, phase("Saving"))
        workload = await at.workload("train", true("Evicted"))
        assert true("QuotaReserved")(workload)
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
        assert (await at.get("Job", "urgent"))["spec"]["suspend"]
        pods.reply = saved
        await at.workload("urgent", true("Admitted"))
        assert (await at.get("Job", "train"))["spec"]["suspend"]
        playing.cancel()


async def test_who_does_not_answer_is_stopped_at_the_deadline(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(*objects(ackDeadline="1s"))
        await preempted(at)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Unresponsive"
        assert "no answer within 1s" in found["status"]["message"]
        await told(at, "train", "CheckpointUnresponsive")


@pytest.mark.parametrize(
    ("said", "deadline"),
    [
        pytest.param({"answer": "Failed", "message": "disk full"}, "20s", id="it says so"),
        pytest.param({"answer": "Saved", "requestID": "r", "epoch": 1}, "1s", id="another request"),
        pytest.param({"answer": "Saved", "epoch": 0}, "1s", id="an old epoch"),
        pytest.param({"answer": "Perhaps"}, "1s", id="a word that nobody knows"),
    ],
)
async def test_work_that_is_not_saved_blocks_nobody(
    world: MakeWorld, said: Wire, deadline: str
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says(said)).run())
        await at.make(*objects(ackDeadline=deadline))
        await preempted(at)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] in {"Failed", "Unresponsive"}
        assert "checkpoint" not in found["status"]
        playing.cancel()


async def test_a_preemptor_that_is_gone_lets_the_victim_stay(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, says({"answer": "Accepted"}))
        playing = group.create_task(pods.run())
        await at.make(*objects(heartbeat="20s"))
        await preempted(at)
        await checkpoint(at, phase("Saving"))
        await at.delete("Job", "urgent")
        found = await checkpoint(at, phase("Cancelled"))
        assert "gone" in found["status"]["message"]
        await at.workload("train", false("Evicted", "Withdrawn"))
        await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        await at.until("Pod", (await at.list("Pod"))[0]["metadata"]["name"], told_to_go_on)
        playing.cancel()


def told_to_go_on(pod: Wire) -> bool:
    text = pod["metadata"]["annotations"]["queueing.dev/checkpoint-request"]
    return '"cancelled":true' in text


async def test_a_drained_queue_saves_too_and_one_that_reopens_lets_it_stay(
    world: MakeWorld,
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, says({"answer": "Accepted"}))
        playing = group.create_task(pods.run())
        await at.make(*objects(heartbeat="20s"), saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        found = await checkpoint(at, phase("Saving"))
        assert found["spec"]["reason"] == "ClusterQueueStopped"
        await at.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "None"}})
        await checkpoint(at, phase("Cancelled"))
        await at.workload("train", false("Evicted"))
        pods.reply = saved
        await at.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await at.until("Job", "train", lambda one: one["spec"]["suspend"])
        every = await at.list("Checkpoint")
        assert sorted(one["spec"]["epoch"] for one in every) == [1, 2]
        playing.cancel()


async def test_a_policy_that_is_not_there_is_told_and_blocks_nobody(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(*objects())
        lost = saving()
        lost["metadata"]["annotations"][POLICY] = "nowhere"
        await at.make(lost)
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        assert await at.list("Checkpoint") == []
        await told(at, "train", "CheckpointPolicyUnusable")


async def test_a_queues_policy_holds_for_jobs_without_and_bounds_those_with(
    world: MakeWorld,
) -> None:
    async with world() as at:
        queue = {"metadata": {"annotations": {POLICY: "team/save"}}}
        await at.make(*objects(ackDeadline="1s", saveDeadline="2s", heartbeat="1s"))
        await at.patch("ClusterQueue", "cq", queue)
        plain = saving()
        del plain["metadata"]["annotations"][POLICY]
        await at.make(plain)
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(urgent())
        found = await checkpoint(at, phase("Requeued"))
        assert found["spec"]["policy"] == "team/save"
        assert found["spec"]["terms"]["saveDeadline"] == "2s"
        await at.workload("urgent", true("Admitted"))


async def test_what_was_saved_for_a_job_that_left_it_behind_stays_and_goes_with_its_workload(
    world: MakeWorld,
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, saved).run())
        await at.make(*objects())
        await preempted(at)
        name = (await checkpoint(at, phase("Requeued")))["metadata"]["name"]
        record = (await at.workload("train", false("QuotaReserved")))["metadata"]
        await at.delete("Job", "train", policy="Orphan")
        await at.until("Workload", record["name"], true("Finished", "OwnerNotFound"))
        left = await at.until("Checkpoint", name, lambda one: len(owners_of(one)) == 1)
        assert owners_of(left) == [record["uid"]]
        await at.delete("Workload", record["name"])
        await at.until_gone("Checkpoint", name)
        playing.cancel()


async def test_what_was_saved_stays_beside_the_record_of_a_finished_job_that_left_both_behind(
    world: MakeWorld,
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, saved).run())
        await at.make(*objects())
        await preempted(at)
        name = (await checkpoint(at, phase("Requeued")))["metadata"]["name"]
        await at.patch("Job", "train", {"metadata": {"annotations": {RUN_SECONDS: "1"}}})
        await at.delete("Job", "urgent")
        record = await at.workload("train", true("Finished", "Succeeded"))
        await at.delete("Job", "train", policy="Orphan")
        left = await at.until("Checkpoint", name, lambda one: len(owners_of(one)) == 1)
        assert owners_of(left) == [record["metadata"]["uid"]]
        await at.delete("Workload", record["metadata"]["name"])
        await at.until_gone("Checkpoint", name)
        playing.cancel()


def owners_of(found: Wire) -> list[str]:
    return [one["uid"] for one in found["metadata"].get("ownerReferences", ())]
