"""The controller killed before each of its writes: the same end, and nobody stopped unasked."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typing_extensions import override

from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.server import Fault, serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.apiserver.wire.call import HttpRequest
from tests.checkpoints.shell.save_harness import (
    Pods,
    Reply,
    checkpoint,
    objects,
    phase,
    saving,
    says,
    urgent,
)
from tests.controller.direct import DirectClient
from tests.controller.gangs.gang_harness import CONTROLLER, WRITES, GangWorld
from tests.controller.harness import CLOCK, NODE, Wire, another_clock, define, false, true

HOLDING = {"Selected", "Notified", "Saving", "Saved", "Refused", "Cancelled"}
SAVED: Wire = {"answer": "Saved", "uri": "s3://bucket/step-40", "step": 40}


class SavingWorld(GangWorld):
    """Counts every write but events, and notes each Job that is suspended before its time."""

    def watch(self) -> None:
        self.checkpoints: dict[str, Wire] = {}
        self.early: list[str] = []
        self.running: dict[str, bool] = {}
        self.server.store.on_change(self._changed)

    def _changed(self, resource: Resource, event: WatchEvent) -> None:
        name = event.after["metadata"]["name"]
        if (
            resource.key == "checkpoints.queueing.dev"
            and event.change is not WatchEventType.DELETED
        ):
            self.checkpoints[name] = event.after
        if resource.key == "jobs.batch":
            self._judge(name, runs=not event.after["spec"].get("suspend"))

    def _judge(self, name: str, *, runs: bool) -> None:
        if self.running.get(name) and not runs and name == "train":
            phases = [one.get("status", {}).get("phase") for one in self.checkpoints.values()]
            if not phases or HOLDING & {one or "Selected" for one in phases}:
                self.early.append(f"{name} was suspended while {phases}")
        self.running[name] = runs

    @override
    async def intercept(self, call: HttpRequest) -> Fault | None:
        if not call.user_agent.startswith(CONTROLLER):
            return None
        if call.user_agent != f"{CONTROLLER}{self.lives}" or self._killed.is_set():
            return Fault(drop=True)
        if call.method in WRITES and "/events" not in call.path:
            if self._kill_at is not None and len(self.writes) >= self._kill_at:
                self._killed.set()
                return Fault(drop=True)
            self.writes.append(f"{call.method} {call.path.rpartition('/namespaces/')[2]}")
        return None


@asynccontextmanager
async def saving_world(
    definitions: Sequence[Wire], reply: Reply, **spec: Any
) -> AsyncIterator[SavingWorld]:
    place: list[SavingWorld] = []

    async def intercept(call: HttpRequest) -> Fault | None:
        return await place[0].intercept(call) if place else None

    async with (
        serve(intercept=intercept, clock=CLOCK.now) as server,
        simulate(server.store, nodes=[NODE], speed=50.0, clock=another_clock),
        DirectClient(server, user_agent="test") as client,
    ):
        define(server, definitions)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([namespace, *objects(**spec)])
        world = SavingWorld(server, client, {}, http=False)
        world.watch()
        place.append(world)
        async with asyncio.TaskGroup() as group:
            playing = group.create_task(Pods(world, reply).run())
            try:
                await world.restart()
                yield world
            finally:
                await world.stop()
                playing.cancel()
        assert world.early == []


KILLS = [
    pytest.param(write, marks=[] if write in (2, 4) else [pytest.mark.slow], id=f"write {write}")
    for write in range(14)
]


@pytest.mark.parametrize("write", KILLS)
async def test_a_controller_killed_before_any_write_saves_and_stops_once(
    definitions: list[Wire], write: int
) -> None:
    async with saving_world(definitions, says(SAVED)) as at:
        await at.make(saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await asyncio.sleep(0.1)
        at.kill_before(write)
        await at.make(urgent())
        done = lambda: at.running.get("urgent", False)  # noqa: E731 - asked again and again
        await at.wait_killed(done)
        await at.restart()
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert len(at.checkpoints) == 1
        assert (await at.get("Job", "train"))["spec"]["suspend"]
        await at.until("Job", "urgent", lambda one: not one["spec"]["suspend"])


@pytest.mark.parametrize(
    "write", [pytest.param(4, id="write 4"), pytest.param(5, marks=pytest.mark.slow, id="write 5")]
)
async def test_a_controller_killed_while_it_spares_a_victim_spares_it(
    definitions: list[Wire], write: int
) -> None:
    """Aborting needs the word of a ClusterQueue."""
    terms = {"onFailure": "Abort"}
    answer = says({"answer": "Failed", "message": "disk full"})
    async with saving_world(definitions, answer, **terms) as at:
        note = {"queueing.dev/checkpoint-policy": "team/save"}
        await at.patch("ClusterQueue", "cq", {"metadata": {"annotations": note}})
        await at.make(saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        at.kill_before(write)
        await at.make(urgent())
        await at.wait_killed(lambda: any(map(phase("Cancelled"), at.checkpoints.values())))
        await at.restart()
        await checkpoint(at, phase("Cancelled"))
        await at.workload("train", false("Evicted", "Spared"))
        assert not (await at.get("Job", "train"))["spec"]["suspend"]
        assert (await at.get("Job", "urgent"))["spec"]["suspend"]


HOOK: Wire = {
    "metadata": {"annotations": {}},
    "spec": {
        "template": {
            "metadata": {
                "annotations": {
                    "queueing.dev/simulate-seconds": "10",
                    "queueing.dev/simulate-message": "snap://volume/1",
                }
            },
            "spec": {"containers": [{"name": "snapshot", "image": "x"}]},
        }
    },
}


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(write, marks=[] if write == 3 else [pytest.mark.slow], id=f"write {write}")
        for write in range(12)
    ],
)
async def test_a_controller_killed_before_any_write_makes_one_job_that_saves(
    definitions: list[Wire], write: int
) -> None:
    nobody = says({"answer": "Accepted"})
    async with saving_world(definitions, nobody, driver="Job", job={"template": HOOK}) as at:
        await at.make(saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.until("CheckpointPolicy", "save", true("Active"))
        at.kill_before(write)
        await at.make(urgent())
        await at.wait_killed(lambda: at.running.get("urgent", False))
        await at.restart()
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "Saved"
        assert found["status"]["checkpoint"]["uri"] == "snap://volume/1"
        hooks = [one for one in at.running if one.startswith("save-")]
        assert hooks == [f"save-{found['spec']['requestID']}"]
