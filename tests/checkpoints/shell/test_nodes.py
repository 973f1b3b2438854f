"""Workloads on a node that goes away save first; those without a policy are left alone."""

import asyncio

from tests.checkpoints.shell.save_harness import (
    POLICY,
    Pods,
    checkpoint,
    objects,
    phase,
    saving,
    says,
    told,
)
from tests.controller.harness import MakeWorld, Wire, World, false, true

SAVED: Wire = {"answer": "Saved", "uri": "s3://b/3", "step": 3}


async def taint(at: World, *taints: Wire) -> None:
    await at.patch("Node", "node", {"spec": {"taints": list(taints)}})


async def running(at: World, name: str) -> None:
    await at.until("Job", name, lambda one: one.get("status", {}).get("active", 0) > 0)


async def test_a_node_that_is_taken_back_has_its_workloads_save(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says(SAVED)).run())
        plain = saving("plain", cpu="1")
        del plain["metadata"]["annotations"][POLICY]
        await at.make(*objects(), saving("train", cpu="1"), plain)
        await running(at, "train")
        await running(at, "plain")
        ends = int(at.clock.now()) + 100
        key = "queueing.dev/interruption"
        await taint(at, {"key": key, "value": str(ends), "effect": "NoSchedule"})
        found = await checkpoint(at, phase("Requeued"))
        assert found["spec"]["reason"] == "NodeFailures"
        assert found["status"]["outcome"] == "Saved"
        asked, end = found["spec"]["requestedAt"], found["spec"]["saveBy"]
        assert asked < end, "some time is left"
        await told(at, found["spec"]["workload"]["name"], "EvictedDueToNodeFailures")
        assert not (await at.get("Job", "plain"))["spec"]["suspend"]
        await at.workload("train", true("QuotaReserved"))
        playing.cancel()


async def test_a_node_that_stays_after_all_keeps_its_workloads(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says({"answer": "Accepted"})).run())
        await at.make(*objects(heartbeat="20s"), saving())
        await running(at, "train")
        await taint(at, {"key": "queueing.dev/interruption", "effect": "NoSchedule"})
        await checkpoint(at, phase("Saving"))
        await taint(at)
        found = await checkpoint(at, phase("Cancelled"))
        assert "node node stays" in found["status"]["message"]
        await at.workload("train", false("Evicted", "Withdrawn"))
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
        playing.cancel()
