"""Pods of other kinds than Jobs save as well: those of a JobSet, alone and in a gang."""

import asyncio

from tests.checkpoints.shell.save_harness import (
    POLICY,
    Pods,
    checkpoint,
    objects,
    phase,
    saving,
    told,
    urgent,
)
from tests.controller.gangs.test_gangs_of_kinds import of_gang
from tests.controller.harness import MakeWorld, Wire, World, false, true
from tests.controller.test_kinds import (
    JOB_SET,
    ON,
    create,
    define,
    job_set,
    owned_by,
    runs,
    status,
    until,
)

SET_LABELS = {"kueue.x-k8s.io/podset": "workers"}


def saved(pod: Wire, asked: Wire) -> Wire:
    return {"answer": "Saved", "uri": "s3://bucket/step-40", "step": 40}


def templates(one: Wire) -> list[Wire]:
    return [each["template"]["spec"]["template"] for each in one["spec"]["replicatedJobs"]]


async def play(w: World, active: int, name: str = "set") -> None:
    """Tell how many Jobs of a JobSet are active, as its controller does."""
    state = [{"name": "workers", "active": active}]
    await status(w, JOB_SET, name, {"status": {"replicatedJobsStatus": state}})


async def run(w: World, *, replicas: int = 2, gang: bool = False) -> Wire:
    """Make a JobSet with a policy; when it starts, make one pod of it, as its Jobs would."""
    await define(w, JOB_SET)
    body = job_set("set", replicas=replicas, annotations={POLICY: "save"})
    await create(w, JOB_SET, of_gang(body) if gang else body)
    started = await until(w, JOB_SET, "set", runs)
    (template,) = templates(started)
    notes = {**template["metadata"]["annotations"], "queueing.dev/simulate-seconds": "600"}
    meta = {**template["metadata"], "name": "set-0", "namespace": "team", "annotations": notes}
    await w.make({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]})
    await play(w, 2)
    return started


async def test_a_preempted_job_set_saves_and_returns_where_it_was(world: MakeWorld) -> None:
    async with world(**ON) as w, asyncio.TaskGroup() as group:
        pods = Pods(w, saved)
        playing = group.create_task(pods.run())
        await w.make(*objects())
        await run(w)
        await w.make(urgent())
        found = await checkpoint(w, phase("Suspending"))
        assert found["status"]["checkpoint"]["step"] == 40
        assert found["status"]["asked"] == ["set-0"]
        owners = {(one["apiVersion"], one["kind"]) for one in found["metadata"]["ownerReferences"]}
        assert ("jobset.x-k8s.io/v1alpha2", "JobSet") in owners
        await until(w, JOB_SET, "set", lambda one: not runs(one))
        await play(w, 0)
        await w.delete("Pod", "set-0")
        await w.workload("urgent", true("Admitted"))
        await told(w, "set", "CheckpointRequested", "CheckpointSaved")
        await w.delete("Job", "urgent")
        (template,) = templates(await until(w, JOB_SET, "set", runs))
        notes = template["metadata"]["annotations"]
        assert notes["queueing.dev/checkpoint-uri"] == "s3://bucket/step-40"
        assert notes["queueing.dev/checkpoint-step"] == "40"
        playing.cancel()


async def test_it_and_what_it_makes_run_on_while_it_saves(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*objects(ackDeadline="1m"))
        above = await run(w)
        child = saving("set-workers-0", suspend=False)
        child["metadata"]["ownerReferences"] = [owned_by(above)]
        await w.make(child)
        await w.make(urgent())
        await checkpoint(w, phase("Notified"))
        await w.workload("set", true("Evicted"))
        await w.patch("Job", "set-workers-0", {"metadata": {"labels": {"look": "again"}}})
        await w.make(urgent("later"))
        await w.workload("later", false("QuotaReserved"))
        assert runs(await w.get("Job", "set-workers-0"))
        assert runs(await until(w, JOB_SET, "set", lambda _: True))


async def test_a_job_set_without_pods_is_stopped_at_once(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*objects())
        await run(w)
        await play(w, 0)
        await w.delete("Pod", "set-0")
        await w.make(urgent())
        await until(w, JOB_SET, "set", lambda one: not runs(one))
        assert await w.list("Checkpoint") == []


async def test_members_of_two_kinds_save_behind_one_barrier(world: MakeWorld) -> None:
    async with world(**ON) as w, asyncio.TaskGroup() as group:
        asked: list[str] = []

        def reply(pod: Wire, request: Wire) -> Wire | None:
            asked.append(pod["metadata"]["name"])
            return saved(pod, request) if len(set(asked)) > 1 else None

        playing = group.create_task(Pods(w, reply).run())
        await w.make(*objects())
        await w.make(of_gang(saving("train", cpu="1")))
        await run(w, replicas=1, gang=True)
        await w.until("Job", "train", lambda one: one["status"].get("active", 0) > 0)
        await w.make(urgent())
        found = await checkpoint(w, phase("Suspending"))
        assert len(found["status"]["asked"]) == 2
        assert {one["kind"] for one in found["metadata"]["ownerReferences"]} == {
            "Job",
            "JobSet",
            "Workload",
        }
        await until(w, JOB_SET, "set", lambda one: not runs(one))
        await play(w, 0)
        await w.delete("Pod", "set-0")
        await w.workload("urgent", true("Admitted"))
        playing.cancel()


async def test_a_job_set_whose_pods_are_all_idle_is_deactivated(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*objects(idleAfter="1s"))
        await run(w, replicas=1)
        await w.patch("Pod", "set-0", {"metadata": {"labels": {"queueing.dev/idle-since": "1"}}})
        await w.workload("set", true("Evicted", "DeactivatedDueToIdle"))


async def test_a_job_set_leaves_a_node_that_goes_away(world: MakeWorld) -> None:
    async with world(**ON) as w:
        await w.make(*objects())
        await run(w)
        await w.until("Pod", "set-0", lambda one: bool(one["spec"].get("nodeName")))
        taint = {"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}
        await w.patch("Node", "node", {"spec": {"taints": [taint]}})
        await w.workload("set", true("Evicted", "NodeFailures"))
