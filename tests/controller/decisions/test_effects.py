import asyncio

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import (
    FLAVOR,
    KUEUE,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    cluster_queue,
    true,
)

FINISHED = {
    "type": "Finished",
    "status": "True",
    "reason": "Succeeded",
    "message": "done",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def workload(name: str, priority: int) -> Wire:
    """Return a Workload that nobody owns."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "queueName": "lq",
            "priority": priority,
            "podSets": [{"name": "main", "count": 1, "template": template}],
        },
    }


async def test_a_victim_that_finished_before_its_eviction_was_written_is_not_evicted(
    world: MakeWorld,
) -> None:
    """The reason of the preemptor is written first, and takes long here."""
    asked, answered = asyncio.Event(), asyncio.Event()

    async def slowly(call: HttpRequest) -> Fault | None:
        if call.method == "PATCH" and call.path.endswith("/workloads/high/status"):
            asked.set()
            await answered.wait()
        return None

    async with world(intercept=slowly) as w:
        preempting = {"preemption": {"withinClusterQueue": "LowerPriority"}}
        await w.make(FLAVOR, cluster_queue("1", **preempting), LOCAL_QUEUE, workload("low", 1))
        admitted = await w.until("Workload", "low", true("Admitted"))
        await w.make(workload("high", 2))
        async with asyncio.timeout(30):
            await asked.wait()
        conditions = [*admitted["status"]["conditions"], FINISHED]
        await w.patch("Workload", "low", {"status": {"conditions": conditions}}, "status")
        await w.until("ClusterQueue", "cq", _holds_nothing)
        answered.set()
        await w.until("Workload", "high", true("Admitted"))
        await w.make(workload("later", 0))
        await w.patch("Workload", "high", {"spec": {"active": False}})
        await w.until("Workload", "later", true("Admitted"))
        assert not true("Evicted")(await w.get("Workload", "low"))


def _holds_nothing(one: Wire) -> bool:
    return bool(one.get("status", {}).get("admittedWorkloads") == 0)
