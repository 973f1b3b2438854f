"""What is said of policies, and workloads that are suspended by hand."""

import asyncio
from pathlib import Path

import pytest
import yaml

from queueing.cli.activity import set_active
from queueing.kube.config import load_cluster
from queueing.kube.errors import NotFoundError
from tests.checkpoints.shell.save_harness import (
    Pods,
    checkpoint,
    objects,
    phase,
    policy,
    saving,
    says,
    told,
    urgent,
)
from tests.controller.harness import MakeWorld, World, false, true


async def test_a_policy_says_whether_it_can_be_used(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(policy("good"), policy("bad", saveDeadline="5s", heartbeat="1m"))
        await at.until("CheckpointPolicy", "good", true("Active", "Ready"))
        found = await at.until("CheckpointPolicy", "bad", false("Active", "InvalidTerms"))
        assert "spec.heartbeat" in found["status"]["conditions"][0]["message"]
        await at.patch("CheckpointPolicy", "bad", {"spec": {"heartbeat": "1s"}})
        await at.until("CheckpointPolicy", "bad", true("Active", "Ready"))


async def test_a_policy_with_a_driver_that_is_switched_off_is_not_used(world: MakeWorld) -> None:
    async with world() as at:
        terms = {"driver": "Exec", "exec": {"command": ["save"]}}
        await at.make(*objects(**terms), saving())
        found = await at.until("CheckpointPolicy", "save", false("Active", "DriverNotAllowed"))
        assert "checkpointDrivers" in found["status"]["conditions"][0]["message"]
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        assert await at.list("Checkpoint") == []
        await told(at, "train", "CheckpointPolicyUnusable")


async def test_a_job_that_the_api_server_would_not_take_is_told_of_the_policy(
    world: MakeWorld,
) -> None:
    async with world() as at:
        await at.make(policy(driver="Job", job={"template": {"spec": {"parallelism": -1}}}))
        found = await at.until("CheckpointPolicy", "save", false("Active", "InvalidTemplate"))
        assert "spec.job.template" in found["status"]["conditions"][0]["message"]
        assert await at.list("Job") == []


def kubeconfig(at: World, folder: Path) -> str:
    cluster = {"name": "c", "cluster": {"server": at.server.url}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    made = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "users": [{"name": "u", "user": {}}],
        "current-context": "c",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(made))
    return str(path)


async def test_who_is_suspended_by_hand_saves_and_returns_when_resumed(
    world: MakeWorld, tmp_path: Path
) -> None:
    async with world() as at, asyncio.TaskGroup() as group:
        answer = says({"answer": "Saved", "uri": "s3://b/2", "step": 2})
        playing = group.create_task(Pods(at, answer).run())
        await at.make(*objects(), saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        name = (await at.list("Workload"))[0]["metadata"]["name"]
        cluster = await load_cluster(kubeconfig(at, tmp_path))
        await set_active(cluster, f"team/{name}", active=False)
        found = await checkpoint(at, phase("Released"))
        assert found["spec"]["reason"] == "Deactivated"
        assert found["status"]["outcome"] == "Saved"
        await at.until("Job", "train", lambda one: one["spec"]["suspend"])
        await set_active(cluster, f"team/{name}", active=True)
        back = await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        notes = back["spec"]["template"]["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-uri"] == "s3://b/2"
        await checkpoint(at, phase("Requeued"))
        with pytest.raises(NotFoundError):
            await set_active(cluster, "team/nobody", active=True)
        playing.cancel()
