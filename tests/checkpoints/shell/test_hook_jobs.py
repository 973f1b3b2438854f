"""Jobs that save for a workload."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.checkpoints.shell.save_harness import checkpoint, objects, phase, saving, told, urgent
from tests.controller.harness import MakeWorld, Wire, World, false, true

REQUEST = "queueing.dev/checkpoint-request"


def template(message: str = "", seconds: float = 1, fails: bool = False, **spec: Any) -> Wire:
    notes = {"queueing.dev/simulate-seconds": str(seconds)}
    notes |= {"queueing.dev/simulate-message": message} if message else {}
    notes |= {"queueing.dev/simulate-failure": "true"} if fails else {}
    container: Wire = {"name": "snapshot", "image": "x", "env": [{"name": "OWN", "value": "1"}]}
    container["resources"] = {"requests": {"cpu": "250m", "memory": "1Mi"}}
    return {
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq", "team": "vision"}},
        "spec": {
            "backoffLimit": 0,
            **spec,
            "template": {"metadata": {"annotations": notes}, "spec": {"containers": [container]}},
        },
    }


async def preempted(at: World, job: Wire, **terms: Any) -> Wire:
    """Have a Job preempted whose policy names a hook Job; return its request."""
    await at.make(*objects(driver="Job", job={"template": job}, **terms), saving())
    await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
    await at.make(urgent())
    return await checkpoint(at, lambda _: True)


async def test_a_hook_job_saves_and_what_it_says_is_handed_to_the_next_run(
    world: MakeWorld,
) -> None:
    async with world(manageJobsWithoutQueueName=True) as at:
        asked = await preempted(at, template('{"uri": "snap://vol/7", "step": 7}'))
        name = f"save-{asked['spec']['requestID']}"
        hook = await at.until("Job", name, lambda _: True)
        assert not hook["spec"].get("suspend")
        assert hook["metadata"]["labels"] == {"team": "vision", REQUEST: asked["spec"]["requestID"]}
        (owner,) = hook["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("Checkpoint", asked["metadata"]["name"])
        assert 0 < hook["spec"]["activeDeadlineSeconds"] <= 400
        (container,) = hook["spec"]["template"]["spec"]["containers"]
        told = {one["name"]: one["value"] for one in container["env"]}
        assert told["QUEUEING_CHECKPOINT_JOBS"] == "train"
        assert told["OWN"] == "1"
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["uri"] == "snap://vol/7"
        assert found["status"]["checkpoint"]["step"] == 7
        assert all(
            owner["name"] != name
            for one in await at.list("Workload")
            for owner in one["metadata"]["ownerReferences"]
        )
        await at.delete("Job", "urgent")
        back = await at.until("Job", "train", lambda one: not one["spec"]["suspend"])
        notes = back["spec"]["template"]["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-uri"] == "snap://vol/7"


@pytest.mark.parametrize(
    ("job", "terms", "outcome", "said"),
    [
        pytest.param(
            template("no space left", fails=True), {}, "Failed", "no space left", id="it fails"
        ),
        pytest.param(
            template(seconds=4000),
            {"saveDeadline": "1s", "heartbeat": "1s"},
            "Failed",
            "",
            id="it takes too long",
        ),
    ],
)
async def test_a_hook_job_that_does_not_save_blocks_nobody(
    world: MakeWorld, job: Wire, terms: Wire, outcome: str, said: str
) -> None:
    async with world() as at:
        asked = await preempted(at, job, **terms)
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == outcome
        assert said in found["status"]["message"]
        await told(at, "train", "CheckpointFailed")
        if terms:
            await at.until_gone("Job", f"save-{asked['spec']['requestID']}")


async def test_a_name_that_somebody_else_took_is_given_up_in_time(world: MakeWorld) -> None:
    async with world() as at:
        await at.make(
            *objects(driver="Job", job={"template": template()}, ackDeadline="2s"), saving()
        )
        workload = await at.workload("train", true("Admitted"))
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        taken = saving("other")
        taken["metadata"]["name"] = f"save-{request_id(workload['metadata']['uid'])}"
        await at.make(taken, urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Unresponsive"
        assert "is there already" in found["status"]["message"]


def request_id(uid: str) -> str:
    return sha256(f"{uid}/1".encode()).hexdigest()[:16]


def reserves(cpu: str) -> Callable[[Wire], bool]:
    """Say whether so much is charged to a queue."""

    def holds(one: Wire) -> bool:
        found = one.get("status", {}).get("flavorsReservation", [])
        return [
            each["total"]
            for flavor in found
            for each in flavor["resources"]
            if each["name"] == "cpu"
        ] == [cpu]

    return holds


async def test_a_hook_job_is_charged_to_whom_it_saves_until_it_has_ended(
    world: MakeWorld,
) -> None:
    async with world() as at:
        asked = await preempted(at, template(seconds=4000, parallelism=2, completions=2))
        name = f"save-{asked['spec']['requestID']}"
        await checkpoint(at, phase("Saving"))
        await at.until("ClusterQueue", "cq", reserves("2500m"))
        await at.delete("Job", "urgent")
        await checkpoint(at, phase("Cancelled"))
        await at.until_gone("Job", name)
        await at.workload("train", false("Evicted", "Withdrawn"))
        await at.until("ClusterQueue", "cq", reserves("2"))
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
