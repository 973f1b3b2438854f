"""What becomes of victims that cannot save, of those that are asked by SIGTERM, and of gangs."""

import asyncio
from typing import Any

from queueing.kube import resources
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
from tests.controller.harness import MakeWorld, Wire, World, true

GANG = {"queueing.dev/gang": "g"}


async def running(at: World, *jobs: str) -> None:
    for name in jobs:
        await at.until("Job", name, lambda one: one.get("status", {}).get("active", 0) > 0)


async def test_another_victim_is_found_for_one_that_cannot_save(world: MakeWorld) -> None:
    def reply(pod: Wire, asked: Wire) -> Wire:
        able = pod["metadata"]["labels"]["app"] == "able"
        return {"answer": "Saved", "step": 1} if able else {"answer": "Failed"}

    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, reply).run())
        await at.make(*objects(onFailure="TryOtherVictim"), saving("able", cpu="1"))
        await running(at, "able")
        await at.make(saving("unable", cpu="1"))
        await running(at, "unable")
        await at.make(urgent(cpu="1"))
        await at.workload("urgent", true("Admitted"))
        assert (await at.get("Job", "able"))["spec"]["suspend"]
        assert not (await at.get("Job", "unable"))["spec"]["suspend"]
        phases = {
            one["spec"]["workload"]["name"].split("-")[1]: one["status"]["outcome"]
            for one in await at.list("Checkpoint")
        }
        assert phases["able"] == "Saved"
        assert phases.get("unable", "Failed") == "Failed"
        playing.cancel()


async def test_pods_asked_by_sigterm_alone_leave_their_answer_behind(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(*objects(driver="TerminationOnly"), saving())
        await running(at, "train")
        (pod,) = await at.list("Pod")
        await drained_slowly(at, pod)
        await at.make(urgent())
        await checkpoint(at, phase("Suspending", "Drained", "Released"))
        await at.until("Job", "train", lambda one: one["spec"]["suspend"])
        await at.patch("Pod", pod["metadata"]["name"], ended_with(85, "s3://b/7", 7), "status")
        await release(at, pod)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["step"] == 7
        assert found["status"]["checkpoint"]["uri"] == "s3://b/7"


async def drained_slowly(at: World, pod: Wire) -> None:
    """Keep a pod until the test lets it go, as a kubelet does while its containers end."""
    body = {"metadata": {"finalizers": ["test/kubelet"]}}
    await at.patch("Pod", pod["metadata"]["name"], body)


async def release(at: World, pod: Wire) -> None:
    await at.patch("Pod", pod["metadata"]["name"], {"metadata": {"finalizers": None}})


def ended_with(code: int, uri: str, step: int) -> Wire:
    said = f'{{"answer": "Saved", "uri": "{uri}", "step": {step}}}'
    state = {"terminated": {"exitCode": code, "message": said, "reason": "Error"}}
    one = {"name": "c", "image": "x", "imageID": "", "ready": False, "restartCount": 0}
    return {"status": {"phase": "Failed", "containerStatuses": [{**one, "state": state}]}}


def member(name: str, **more: Any) -> Wire:
    made = saving(name, cpu="1", labels=GANG, **more)
    made["metadata"]["annotations"]["queueing.dev/gang-size"] = "2"
    return made


async def test_a_gang_is_stopped_when_all_its_jobs_have_saved(world: MakeWorld) -> None:
    answers: dict[str, Wire] = {"a": {"answer": "Saved", "uri": "s3://b/a", "step": 3}}

    def reply(pod: Wire, asked: Wire) -> Wire:
        waiting = {"answer": "Heartbeat", "beat": "1"}
        return answers.get(pod["metadata"]["labels"]["app"], waiting)

    async with world() as at, asyncio.TaskGroup() as group:
        playing = group.create_task(Pods(at, reply).run())
        await at.make(*objects(heartbeat="20s"), member("a"), member("b"))
        await running(at, "a", "b")
        await at.make(urgent())
        await checkpoint(at, phase("Saving"))
        assert not (await at.get("Job", "a"))["spec"]["suspend"], "a waits for b"
        answers["b"] = {"answer": "Saved", "step": 2}
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["checkpoint"]["step"] == 2
        kinds = [one["kind"] for one in found["metadata"]["ownerReferences"]]
        assert kinds == ["Job", "Job", "Workload"]
        await told(at, "b", "CheckpointGraceTooLong")
        for name in ("a", "b"):
            assert (await at.get("Job", name))["spec"]["suspend"]
        await at.delete("Job", "urgent")
        for name in ("a", "b"):
            back = await at.until("Job", name, lambda one: not one["spec"]["suspend"])
            notes: dict[str, Any] = back["spec"]["template"]["metadata"]["annotations"]
            assert notes["queueing.dev/checkpoint-uri"] == "s3://b/a"
        playing.cancel()


async def test_a_gang_of_which_a_job_is_done_saves_at_every_eviction(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, says({"answer": "Saved", "uri": "s3://b/1", "step": 1}))
        playing = group.create_task(pods.run())
        await at.make(*objects(), member("a"), member("b", seconds=0.1))
        await at.until("Job", "b", true("Complete"))
        for turn in range(2):
            await at.until("Job", "a", lambda one: one.get("status", {}).get("ready", 0) > 0)
            await at.make(urgent(f"urgent-{turn}"))
            await at.workload(f"urgent-{turn}", true("Admitted"))
            await at.delete("Job", f"urgent-{turn}")
            found = await checkpoint(at, phase("Requeued"))
            assert found["status"]["outcome"] == "Saved"
        assert {one["epoch"] for one in pods.asked} == {1, 2}
        playing.cancel()


async def test_only_the_newest_checkpoints_are_kept(world: MakeWorld) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        pods = Pods(at, says({"answer": "Saved", "uri": "s3://b/1", "step": 1}))
        playing = group.create_task(pods.run())
        await at.make(*objects(retain=1), saving())
        for turn in range(3):
            await running(at, "train")
            await at.make(urgent(f"urgent-{turn}"))
            await at.workload(f"urgent-{turn}", true("Admitted"))
            await at.delete("Job", f"urgent-{turn}")
        async with asyncio.timeout(30):
            while len(found := await at.list("Checkpoint")) != 1 or found[0]["spec"]["epoch"] != 3:
                await asyncio.sleep(0.02)
        playing.cancel()


async def test_what_cannot_be_delivered_is_tried_and_then_given_up(world: MakeWorld) -> None:
    async with world() as at:
        leader = {"matchLabels": {"rank": "0"}}
        await at.make(*objects(answerFrom="Leader", leader=leader), saving())
        await running(at, "train")
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Unresponsive"
        assert "no pod runs whose answer counts" in found["status"]["message"]
        assert await at.client.get(resources.JOBS.at("train", "team"))


async def test_a_pod_that_outlives_its_grace_is_removed_by_force_where_terms_say_so(
    world: MakeWorld,
) -> None:
    async with world() as at:
        terms = {"driver": "TerminationOnly", "terminationGrace": "1s", "forceDeleteAfter": "1s"}
        train = saving()
        train["metadata"]["annotations"]["queueing.dev/simulate-drain-seconds"] = "100000"
        train["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 100_000
        await at.make(*objects(**terms), train)
        await running(at, "train")
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "NotAsked"
        workload = found["spec"]["workload"]["name"]
        await told(at, workload, "CheckpointForced")
