"""What an operator sees of requests to save."""

import asyncio
import re

import aiohttp

from queueing.testing.ports import free_ports
from tests.checkpoints.shell.save_harness import (
    Pods,
    checkpoint,
    objects,
    phase,
    saving,
    says,
    urgent,
)
from tests.controller.harness import MakeWorld, true


async def scraped(port: int) -> dict[str, float]:
    """Return the metrics of requests to save, without what all of them are labelled with."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/metrics") as reply,
    ):
        text = await reply.text()
    found = {}
    for line in text.splitlines():
        if line.startswith("queueing_checkpoint_"):
            name, _, value = line.removeprefix("queueing_checkpoint_").rpartition(" ")
            found[re.sub(r',?replica_role="\w+"', "", name)] = float(value)
    return found


async def test_outcomes_durations_and_work_are_measured(world: MakeWorld) -> None:
    (port,) = free_ports(1)
    where = 'cluster_queue="cq",driver="Annotation"'
    async with (
        world(metrics={"bindAddress": f"127.0.0.1:{port}"}) as at,
        asyncio.TaskGroup() as group,
    ):
        playing = group.create_task(Pods(at, says({"answer": "Accepted"})).run())
        await at.make(*objects(heartbeat="20s"), saving(parallelism=1))
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(urgent())
        await checkpoint(at, phase("Saving"))
        found = await scraped(port)
        assert found['requests{phase="Saving"}'] == 1
        assert found[f'requests_total{{{where},reason="Preempted"}}'] == 1
        assert found[f"ack_seconds_count{{{where}}}"] == 1
        playing.cancel()
        saves = {"answer": "Saved", "uri": "s3://b/1", "step": 1}
        playing = group.create_task(Pods(at, says(saves)).run())
        await checkpoint(at, phase("Requeued"))
        await at.workload("urgent", true("Admitted"))
        playing.cancel()
        found = await scraped(port)
    assert 'requests{phase="Saving"}' not in found
    assert found[f'outcomes_total{{{where},outcome="Saved"}}'] == 1
    for part in ("save", "drain"):
        assert found[f"{part}_seconds_count{{{where}}}"] == 1
    assert found[f"saved_work_pod_seconds_total{{{where}}}"] >= 0
    assert found[f"lost_work_pod_seconds_total{{{where}}}"] >= 0
