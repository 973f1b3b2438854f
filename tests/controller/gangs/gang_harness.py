"""Gangs on the embedded server: a controller that can be killed, and a guard of every write."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.server import EmbeddedServer, Fault, Intercept, serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.app import App, Options
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.translate.labels import GATE, MANAGED
from queueing_api.config.load import from_document
from tests.controller.direct import DirectClient
from tests.controller.harness import (
    CLOCK,
    CONFIGURATION,
    FLAVOR,
    NODE,
    WAIT_S,
    Wire,
    World,
    another_clock,
    define,
    job,
)

GANG = "queueing.dev/gang"
SIZE = "queueing.dev/gang-size"
ON_FAILURE = "queueing.dev/gang-on-failure"
STATE = "queueing.dev/gang-state"
QUEUE = "kueue.x-k8s.io/queue-name"
GUARDED = ("jobs", "pods", "workloads")
WRITES = ("POST", "PATCH", "PUT", "DELETE")
CONTROLLER = "queueing-"


def member(
    name: str, size: str | None = "3", annotations: dict[str, str] | None = None, **more: Any
) -> Wire:
    """Return a Job of the gang `g`; a size of None leaves the annotation out."""
    labels = {GANG: "g", **more.pop("labels", {})}
    made = job(name, labels=labels, **more)
    given = {SIZE: size} if size is not None else {}
    made["metadata"]["annotations"] |= {**given, **(annotations or {})}
    return made


class Guard:
    """Checks, at each write that anybody does, what must hold of gangs at every moment."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.jobs: dict[str, Wire] = {}
        self.job_sets: dict[str, Wire] = {}
        self.workloads: dict[str, Wire] = {}
        self.pods: dict[str, Wire] = {}
        self.violations: list[str] = []
        server.store.on_change(self._changed)

    def _changed(self, resource: Resource, event: WatchEvent) -> None:
        known = {
            "jobs.batch": self.jobs,
            "jobsets.jobset.x-k8s.io": self.job_sets,
            "workloads.kueue.x-k8s.io": self.workloads,
            "pods": self.pods,
        }
        kept = known.get(resource.key)
        if kept is None:
            return
        name = event.after["metadata"]["name"]
        if event.change is WatchEventType.DELETED:
            kept.pop(name, None)
        else:
            kept[name] = event.after
        self._check(f"{event.change} {resource.key} {name}")

    def _check(self, cause: str) -> None:
        for name, one in self.jobs.items():
            if GANG not in one["metadata"].get("labels", {}) or one["spec"].get("suspend"):
                continue
            uid = one["metadata"]["uid"]
            if not is_over(one) and not any(
                admitted(workload) and uid in owner_uids(workload)
                for workload in self.workloads.values()
            ):
                self.violations.append(f"after {cause}: {name} runs unadmitted")
        for name, one in self.pods.items():
            if may_run(one) and not any(
                admitted(workload) and one["metadata"]["uid"] in owner_uids(workload)
                for workload in self.workloads.values()
            ):
                self.violations.append(f"after {cause}: pod {name} runs unadmitted")


def owner_uids(one: Wire) -> set[str]:
    return {owner["uid"] for owner in one["metadata"].get("ownerReferences", [])}


def may_run(pod: Wire) -> bool:
    """Say whether a pod that is queued by itself or in a group runs, or may be about to."""
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    gated = any(one["name"] == GATE for one in pod["spec"].get("schedulingGates", []))
    marked = MANAGED in pod["metadata"].get("labels", {})
    return marked and not (gated or ended or "deletionTimestamp" in pod["metadata"])


def conditions(one: Wire) -> set[str]:
    found = one.get("status", {}).get("conditions", [])
    return {condition["type"] for condition in found if condition["status"] == "True"}


def is_over(one: Wire) -> bool:
    return bool(conditions(one) & {"Complete", "Failed"})


def admitted(one: Wire) -> bool:
    return "Admitted" in conditions(one) and "Finished" not in conditions(one)


class GangWorld(World):
    """An API server whose controller can be killed and started again."""

    def __init__(
        self,
        server: EmbeddedServer,
        client: Client,
        settings: Wire | None = None,
        *,
        http: bool = True,
    ) -> None:
        super().__init__(server, client)
        self.settings = settings or {}
        self._http = http
        self.guard = Guard(server)
        self.writes: list[str] = []
        """What the controllers wrote or tried to, in order."""
        self.fault: Callable[[HttpRequest], Fault | None] = lambda _: None
        self.lives = 0
        self._kill_at: int | None = None
        self._killed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._dying: list[asyncio.Task[None]] = []

    async def intercept(self, call: HttpRequest) -> Fault | None:
        """Drop what a dead controller sends, and kill it before the write that it is due at."""
        if not call.user_agent.startswith(CONTROLLER):
            return None
        if call.user_agent != f"{CONTROLLER}{self.lives}" or self._killed.is_set():
            return Fault(drop=True)
        if call.method in WRITES and any(f"/{one}" in call.path for one in GUARDED):
            if self._kill_at is not None and len(self.writes) >= self._kill_at:
                self._killed.set()
                return Fault(drop=True)
            kind = " dry" if call.dry_run else ""
            self.writes.append(f"{call.method}{kind} {call.path.rpartition('/namespaces/')[2]}")
        return self.fault(call)

    def kill_before(self, write: int) -> None:
        """Have the controller killed instead of its next write but so many."""
        self._kill_at = len(self.writes) + write

    async def wait_killed(self, else_done: Callable[[], bool]) -> bool:
        """Wait for the kill; False when the work was done without that write."""
        async with asyncio.timeout(WAIT_S):
            while not self._killed.is_set():
                if else_done():
                    self._kill_at = None
                    return False
                await asyncio.sleep(0.005)
        return True

    async def restart(self) -> None:
        """End the controller at once, and start one that knows nothing of it."""
        self._end()
        self.lives += 1
        self._kill_at, self._killed = None, asyncio.Event()
        self._running = asyncio.create_task(self._live(f"{CONTROLLER}{self.lives}"))

    async def stop(self) -> None:
        """End the controller, and wait for the remains of all that were killed."""
        self._end()
        for one in self._dying:
            with suppress(asyncio.CancelledError):
                await one

    def _end(self) -> None:
        """Kill: nothing of this one reaches the server any more, however long it takes to end."""
        if self._running is not None:
            self._killed.set()
            self._running.cancel()
            self._dying.append(self._running)
            self._running = None

    async def _live(self, user_agent: str) -> None:
        options = Options(
            configuration=from_document({**CONFIGURATION, **self.settings}),
            environment={},
            policies=False,
        )
        async with self._reach(user_agent) as client:
            await App(options, client, self.clock).run()

    def _reach(self, user_agent: str) -> Client:
        if self._http:
            return Client(Cluster.plain(self.server.url), user_agent)
        return DirectClient(self.server, user_agent)

    def all(self, holds: Callable[[Wire], bool]) -> Callable[[], bool]:
        """Say whether something holds of every Job that exists."""
        return lambda: bool(self.guard.jobs) and all(map(holds, self.guard.jobs.values()))

    async def eventually(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the server's memory."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds():
                    await asyncio.sleep(0.005)
        except TimeoutError:
            states = {
                name: (one["spec"].get("suspend"), one.get("status"))
                for name, one in self.guard.jobs.items()
            }
            workloads = [one.get("status") for one in self.guard.workloads.values()]
            raise AssertionError(f"it stayed {states} {workloads} {self.writes}") from None

    def workload_now(self) -> Wire:
        """Return the only Workload."""
        (found,) = self.guard.workloads.values()
        return found


@asynccontextmanager
async def gang_world(
    definitions: Sequence[Wire],
    *objects: Wire,
    speed: float = 50.0,
    http: bool = False,
    **settings: Any,
) -> AsyncIterator[GangWorld]:
    """Run a server and a controller that leads at once; `settings` are of its Configuration.

    With `http` they speak over connections, which break when the controller is killed.
    """
    place: list[GangWorld] = []

    async def intercept(call: HttpRequest) -> Fault | None:
        return await place[0].intercept(call) if place else None

    hook: Intercept = intercept
    async with (
        serve(intercept=hook, clock=CLOCK.now) as server,
        simulate(server.store, nodes=[NODE], speed=speed, clock=another_clock),
        DirectClient(server, user_agent="test") as client,
    ):
        define(server, definitions)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([namespace, FLAVOR, *objects])
        world = GangWorld(server, client, settings, http=http)
        place.append(world)
        try:
            await world.restart()
            yield world
        finally:
            await world.stop()
        assert world.guard.violations == []


Disturb = Callable[[GangWorld], Awaitable[None]]


@asynccontextmanager
async def disturbed(w: GangWorld, write: int, disturb: Disturb) -> AsyncIterator[list[bool]]:
    """Disturb the controller at its write of this number; yield a list that is not empty then."""
    left, tasks, done = [write], list[asyncio.Task[None]](), list[bool]()

    async def act() -> None:
        await disturb(w)
        done.append(True)

    def fault(call: HttpRequest) -> Fault | None:
        if call.method in WRITES and any(f"/{one}" in call.path for one in GUARDED):
            if left[0] == 0:
                tasks.append(asyncio.create_task(act()))
            left[0] -= 1
        return None

    w.fault = fault
    yield done
    w.fault = lambda _: None
    await asyncio.gather(*tasks)
