from collections.abc import Awaitable, Callable

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, Wire, cluster_queue, job, true


def failing(
    times: int, fault: Fault, method: str, *parts: str
) -> Callable[[HttpRequest], Awaitable[Fault | None]]:
    """Answer the first so many requests of a kind with a fault."""
    left = [times]

    async def intercept(call: HttpRequest) -> Fault | None:
        fits = call.method == method and all(part in call.path for part in parts)
        if not fits or call.user_agent.startswith("test") or left[0] == 0:
            return None
        left[0] -= 1
        return fault

    return intercept


STATUS = ("PATCH", "/workloads/", "/status")
LOST = Fault(drop=True)
LOST_AFTERWARDS = Fault(drop=True, after=True)


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        pytest.param(LOST, STATUS, id="a status write is lost on its way"),
        pytest.param(LOST_AFTERWARDS, STATUS, id="the answer to a status write is lost"),
        pytest.param(Fault(status=503), STATUS, id="the server is overloaded"),
        pytest.param(Fault(status=429, retry_after=1), STATUS, id="the server throttles"),
        pytest.param(Fault(status=500, after=True), STATUS, id="an error after the write"),
        pytest.param(Fault(status=403, reason="Forbidden"), STATUS, id="a status write is refused"),
        pytest.param(LOST_AFTERWARDS, ("POST", "/workloads"), id="a creation's answer is lost"),
        pytest.param(LOST_AFTERWARDS, ("PATCH", "/jobs/"), id="a start's answer is lost"),
        pytest.param(Fault(status=500), ("PATCH", "/jobs/"), id="a start fails"),
    ],
)
async def test_a_fault_costs_time_and_nothing_else(
    world: MakeWorld, fault: Fault, where: tuple[str, ...]
) -> None:
    method, *parts = where
    async with world(intercept=failing(2, fault, method, *parts), http=True) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a", seconds=2))
        await w.workload("a", true("Finished", "Succeeded"))
        assert len(await w.list("Workload")) == 1
        await w.make(job("b", seconds=2))
        await w.workload("b", true("Finished", "Succeeded"))
        await w.until("ClusterQueue", "cq", _is_free)


def _is_free(one: Wire) -> bool:
    return bool(one.get("status", {}).get("reservingWorkloads") == 0)


async def test_cut_watches_and_forgotten_history_lose_nothing(world: MakeWorld) -> None:
    async with world(http=True) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a", seconds=2))
        await w.workload("a", true("Admitted"))
        w.server.drop_watches()
        w.server.store.compact()
        await w.make(job("b", seconds=2))
        for name in ("a", "b"):
            await w.workload(name, true("Finished", "Succeeded"))


async def test_somebody_elses_edit_is_no_reason_to_lose_an_admission(world: MakeWorld) -> None:
    conflict = Fault(status=409, reason="Conflict", message="the object has been modified")
    async with world(intercept=failing(3, conflict, *STATUS), http=True) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a", seconds=2))
        await w.workload("a", true("Finished", "Succeeded"))
