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
    asked, knows_of_the_end, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly(call: HttpRequest) -> Fault | None:
        if call.method == "PATCH" and call.path.endswith("/workloads/high/status"):
            asked.set()
            if b'"admission"' in (call.body or b""):
                knows_of_the_end.set()
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
        async with asyncio.timeout(30):
            await knows_of_the_end.wait()
        answered.set()
        await w.until("Workload", "high", true("Admitted"))
        await w.make(workload("later", 0))
        await w.patch("Workload", "high", {"spec": {"active": False}})
        await w.until("Workload", "later", true("Admitted"))
        assert not true("Evicted")(await w.get("Workload", "low"))


async def test_an_admission_of_more_pods_than_the_nodes_could_hold_is_told_by_an_event(
    world: MakeWorld,
) -> None:
    """The nodes of the flavor are all there, and have none for a pod of 1,000 CPUs."""
    metadata = {**FLAVOR["metadata"], "annotations": {"queueing.dev/nodes": "Fixed"}}
    huge = workload("huge", 0)
    container = huge["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "1000"}}
    async with world() as w:
        await w.make({**FLAVOR, "metadata": metadata}, cluster_queue("2000"), LOCAL_QUEUE)
        await w.make(workload("small", 0), huge)
        told = await w.event("can hold none of 1 pod(s) of pod set main, even if they were empty")
        await w.until("Workload", "small", true("Admitted"))
        await w.until("Workload", "huge", true("Admitted"))
        warned = [one for one in await w.list("Event") if one["reason"] == "NodesLackRoom"]
    assert (told["type"], told["regarding"]["name"]) == ("Warning", "huge")
    assert len(warned) == 1
