from tests.controller.gang_harness import gang_world, member
from tests.controller.harness import LOCAL_QUEUE, Wire, cluster_queue


def suspended(one: Wire) -> bool:
    return bool(one["spec"]["suspend"])


def running(one: Wire) -> bool:
    return not one["spec"]["suspend"]


async def test_a_gang_starts_together_and_ends_as_one(definitions: list[Wire]) -> None:
    async with gang_world(definitions, cluster_queue("3"), LOCAL_QUEUE) as w:
        await w.make(*(member(name, seconds=5) for name in ("a", "b")))
        await w.make(member("c", seconds=5))
        await w.eventually(lambda: len(w.guard.workloads) == 1)
        await w.eventually(w.all(running))
        print(w.writes)
        await w.eventually(lambda: "Finished" in str(w.workload_now().get("status")))
        print(w.writes, w.workload_now())
        assert 0
