"""`queueing trace` on a running cluster."""

import json

import msgspec

from queueing.kube.resources import CLUSTER_QUEUES, WORKLOAD_PRIORITY_CLASSES
from tests.cli.dev.conftest import Dev, job

HIGH = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}
PREEMPTS = {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}


async def test_where_the_time_of_a_job_went_is_drawn(dev: Dev) -> None:
    await dev.submit(job("runs", 3))
    await dev.until_state(runs="Admitted")
    await dev.submit(job("waits", 2))
    await dev.until_state(waits="Pending")
    name = (await dev.workloads())["waits"]["metadata"]["name"]

    async def told() -> bool:
        return "WaitingForQuota" in await dev.told("trace job/waits")

    await dev.until(told, "the Event says why it waits")
    lines = (await dev.told("trace job/waits")).splitlines()
    assert lines[0].startswith(f"Workload team/{name} (job/waits): Pending, trace ")
    assert lines[2].split() == ["PHASE", "AFTER", "TOOK"]
    assert lines[3].split()[0] == "workload"
    assert lines[-1].split(maxsplit=2)[1] == "WaitingForQuota"
    assert "insufficient unused quota" in lines[-1]
    assert "\x1b" not in "".join(lines)

    async def ready() -> bool:
        found = json.loads(await dev.told("trace job/runs -o json"))
        return found["secondsUntilReady"] is not None

    await dev.until(ready, "its pods are ready")
    found = json.loads(await dev.told("trace jobs/runs -o json"))
    assert (found["jobs"], found["state"]) == (["job/runs"], "Admitted")
    assert found["phases"]["inside"][-1]["name"] == "running"
    assert found["phases"]["ended"] is None
    assert found["phases"]["inside"][-1]["seconds"] is None


async def test_victims_are_told_to_their_preemptor(dev: Dev) -> None:
    await dev.client.create(WORKLOAD_PRIORITY_CLASSES.within(), HIGH)
    await dev.client.patch_merge(CLUSTER_QUEUES.at("vision"), msgspec.json.encode(PREEMPTS))
    await dev.submit(job("low", 3))
    await dev.until_state(low="Admitted")
    high = job("high", 3)
    high["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    await dev.submit(high)
    await dev.until_state(high="Admitted", low="Pending")
    victim = (await dev.workloads())["low"]["metadata"]["name"]

    async def seen() -> bool:
        return f"team/{victim}" in await dev.told("trace job/high")

    await dev.until(seen, "the victim is told")

    async def came_back() -> bool:
        return "earlier rounds" in await dev.told("trace job/low")

    await dev.until(came_back, "it is told that it came back")


async def test_what_is_not_there_and_what_is_no_workload_is_refused(dev: Dev) -> None:
    missed = await dev.type("trace job/nobody")
    assert missed.exit_code == 2
    assert "there is no job nobody in namespace team that has a Workload" in missed.stderr
    queue = await dev.type("trace clusterqueue/vision")
    assert (queue.exit_code, "a job or a workload" in queue.stderr) == (2, True)
