"""Workloads that do nothing give their quota back, after they were asked to save."""

import asyncio
from typing import Any

from tests.checkpoints.shell.save_harness import (
    POLICY,
    Pods,
    checkpoint,
    objects,
    phase,
    policy,
    saving,
    says,
    told,
)
from tests.controller.harness import MakeWorld, Wire, World, false, true

IDLE = "queueing.dev/idle-since"
SAVED: Wire = {"answer": "Saved", "uri": "s3://b/3", "step": 3}


async def begun(at: World, **terms: Any) -> str:
    """Have a Job run; return its pod."""
    await at.make(*objects(heartbeat="20s", **terms), saving())
    await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) == 1)
    (pod,) = await at.list("Pod")
    return str(pod["metadata"]["name"])


async def mark(at: World, name: str, since: str | None = "1") -> None:
    await at.patch("Pod", name, {"metadata": {"labels": {IDLE: since}}})


async def test_who_is_idle_for_too_long_saves_and_stays_away_until_it_is_activated(
    world: MakeWorld,
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says(SAVED)).run())
        pod = await begun(at, idleAfter="100ms")
        await mark(at, pod)
        found = await checkpoint(at, phase("Released"))
        assert found["spec"]["reason"] == "DeactivatedDueToIdle"
        assert found["status"]["outcome"] == "Saved"
        stopped = await at.workload("train", false("QuotaReserved"))
        assert stopped["spec"]["active"] is False
        await told(at, stopped["metadata"]["name"], "Idle")
        await at.patch("Workload", stopped["metadata"]["name"], {"spec": {"active": True}})
        await at.workload("train", true("Admitted"))
        await checkpoint(at, phase("Requeued"))
        again = await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        notes = again["spec"]["template"]["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-uri"] == "s3://b/3"
        playing.cancel()


async def test_who_works_again_before_it_has_saved_stays(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, says({"answer": "Accepted"})).run())
        pod = await begun(at, idleAfter="100ms")
        await mark(at, pod)
        await checkpoint(at, phase("Saving"))
        await mark(at, pod, None)
        found = await checkpoint(at, phase("Cancelled"))
        assert found["status"]["message"] == "it is active again"
        stays = await at.workload("train", false("Evicted", "Withdrawn"))
        assert stays["spec"]["active"] is True
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
        playing.cancel()


LEADER: Wire = {"answerFrom": "Leader", "leader": {"matchLabels": {"rank": "0"}}}
LEFT_ALONE: dict[str, tuple[Wire, Wire]] = {
    "another-works": ({"idleAfter": "100ms"}, {}),
    "not-yet": ({"idleAfter": "100ms"}, {IDLE: "9999999999"}),
    "leader-works": ({"idleAfter": "100ms", **LEADER}, {"rank": "0"}),
    "nobody-minds": ({}, {IDLE: "1"}),
}
"""By the name of a Job: its policy, and how its second pod is labelled; the first one is idle."""


async def test_who_works_is_left_alone_while_others_are_not(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(*objects())
        for name, (terms, _) in LEFT_ALONE.items():
            made = saving(name, cpu="200m", parallelism=2, completions=2)
            made["metadata"]["annotations"][POLICY] = name
            await at.make(policy(name, **terms), made)
        for name, (_, labels) in LEFT_ALONE.items():
            await at.until("Job", name, lambda one: one.get("status", {}).get("active", 0) == 2)
            pods = [one["metadata"] for one in await at.list("Pod")]
            first, second = (one["name"] for one in pods if one["labels"]["app"] == name)
            await at.patch("Pod", second, {"metadata": {"labels": labels}})
            await mark(at, first)
        idle = saving("idle", cpu="200m")
        idle["metadata"]["annotations"][POLICY] = "not-yet"
        idle["spec"]["template"]["metadata"]["labels"][IDLE] = "1"
        await at.make(idle)
        await at.workload("idle", lambda one: one["spec"].get("active") is False)
        for name in LEFT_ALONE:
            found = await at.workload(name, true("Admitted"))
            assert found["spec"].get("active", True) is True
            assert not true("DeactivationTarget")(found)
            assert not true("Finished")(found)
