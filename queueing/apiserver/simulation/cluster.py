"""The loop: changes of Jobs, pods and nodes in, writes and timers out."""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.history import WatchEvent, WatchEventType
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import Author, DeleteOptions, StoreWrites, wire_time
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.simulation import annotations, job_events, saving
from queueing.apiserver.simulation.jobs import controller_of, is_finished, plan
from queueing.apiserver.simulation.nodes import NodeShape
from queueing.apiserver.simulation.pods import bound, ended, running, unschedulable
from queueing.apiserver.simulation.scheduling import NodeInfo, chosen, requests_of, room_of
from queueing.apiserver.tree import Object, dig, metadata, name_of, namespace_of

Place = tuple[str, str]
_NOBODY = Author(name="")
_JOB_CONTROLLER = Author(name="kube-controller-manager", subresource="status")
_MANAGED_BY = (None, "", "kubernetes.io/job-controller")


@dataclass(slots=True)
class Simulation:
    """Plays the cluster behind a store; `speed` is simulated seconds per real second."""

    store: Store
    writes: StoreWrites
    speed: float
    _jobs: Resource
    _pods: Resource
    _nodes: Resource
    _events: job_events.JobEvents
    _rooms: dict[str, NodeInfo] = field(default_factory=dict)
    _charged: dict[Place, tuple[str, dict[str, int]]] = field(default_factory=dict)
    _by_job: dict[Place, dict[Place, None]] = field(default_factory=dict)
    _dirty: dict[Place, None] = field(default_factory=dict)
    _pending: dict[Place, None] = field(default_factory=dict)
    _timers: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _armed: set[tuple[str, str]] = field(default_factory=set)
    _overdue: set[tuple[str, str]] = field(default_factory=set)
    _begun: dict[str, float] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _elapsed: Callable[[], float] = field(default_factory=lambda: asyncio.get_running_loop().time)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _room_changed: bool = True

    def start(self) -> Callable[[], None]:
        """Listen to the store, with all that is in it now; the result ends that."""
        pairs = (
            (self._nodes, self._on_node),
            (self._jobs, self._on_job),
            (self._pods, self._on_pod),
        )
        stops = [self.store.listen(kind, listener) for kind, listener in pairs]
        for kind, listener in pairs:
            for obj in self.store.items(kind):
                listener(WatchEvent(0, WatchEventType.ADDED, None, obj))

        def stop_all() -> None:
            for stop in stops:
                stop()

        return stop_all

    def _on_node(self, event: WatchEvent) -> None:
        name = name_of(event.after)
        self._rooms.pop(name, None)
        if event.change is not WatchEventType.DELETED:
            room = room_of(event.after)
            for node, requests in self._charged.values():
                if node == name:
                    room.take(requests)
            self._rooms[name] = room
        self._room_changed = True
        self._woken.set()

    def _on_job(self, event: WatchEvent) -> None:
        self._dirty[_place(event.after)] = None
        self._woken.set()

    def _on_pod(self, event: WatchEvent) -> None:
        place, pod = _place(event.after), event.after
        job = _job_place(pod)
        gone = event.change is WatchEventType.DELETED
        if job is not None:
            places = self._by_job.setdefault(job, {})
            places.pop(place, None) if gone else places.setdefault(place)
            self._dirty[job] = None
        phase = dig(pod, "status", "phase")
        node = dig(pod, "spec", "nodeName", default="")
        if gone or phase in ("Succeeded", "Failed"):
            self._begun.pop(str(metadata(pod).get("uid")), None)
            self._release(place)
            self._pending.pop(place, None)
        elif node:
            self._pending.pop(place, None)
            self._charge(place, node, pod)
            self._follow(place, pod)
        elif not dig(pod, "spec", "schedulingGates"):
            self._pending[place] = None
            self._room_changed = True
        self._woken.set()

    def _charge(self, place: Place, node: str, pod: Object) -> None:
        if place not in self._charged:
            requests = requests_of(pod)
            self._charged[place] = (node, requests)
            if node in self._rooms:
                self._rooms[node].take(requests)

    def _release(self, place: Place) -> None:
        node, requests = self._charged.pop(place, ("", {}))
        if node in self._rooms:
            self._rooms[node].give(requests)
        self._room_changed = True

    def _follow(self, place: Place, pod: Object) -> None:
        """Arm what happens next to a pod that has a node."""
        uid = str(metadata(pod).get("uid"))
        job = self._job_of(pod)
        if metadata(pod).get("deletionTimestamp"):
            grace = float(metadata(pod).get("deletionGracePeriodSeconds") or 0)
            seconds = min(annotations.drain_seconds(pod, job), grace)
            self._arm((uid, "stop"), seconds, lambda: self._stop(place, uid))
        elif dig(pod, "status", "phase") == "Pending":
            self._arm((uid, "start"), 0.0, lambda: self._begin(place, uid))
        else:
            begun = self._begun.setdefault(uid, self._elapsed())
            seconds = max(annotations.run_seconds(pod, job) - saving.step_before(pod), 0.0)
            self._arm((uid, "end"), seconds, lambda: self._end(place, uid))
            asked, takes_s = saving.request_of(pod, job), annotations.save_seconds(pod, job)
            if asked:
                self._arm((uid, asked), takes_s or 0.0, lambda: self._save(place, uid, begun))

    def _job_of(self, pod: Object) -> Object | None:
        place = _job_place(pod)
        return self.store.peek(self._jobs, *place) if place else None

    def _arm(self, key: tuple[str, str], seconds: float, act: Callable[[], None]) -> None:
        """Do `act` once, so many simulated seconds from now."""
        if key in self._armed:
            return
        self._armed.add(key)
        due = self._elapsed() + seconds / self.speed
        heapq.heappush(self._timers, (due, next(self._numbers), act))

    def _living(self, place: Place, uid: str) -> Object | None:
        pod = self.store.peek(self._pods, *place)
        return pod if pod is not None and metadata(pod).get("uid") == uid else None

    def _begin(self, place: Place, uid: str) -> None:
        pod = self._living(place, uid)
        if pod is not None and not metadata(pod).get("deletionTimestamp"):
            number = int(uid.replace("-", "")[:6], 16)
            address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            self._store(pod, running(pod, address, self._now()))

    def _end(self, place: Place, uid: str) -> None:
        pod = self._living(place, uid)
        if pod is None or metadata(pod).get("deletionTimestamp"):
            return
        job = self._job_of(pod)
        before = int(dig(job, "status", "failed", default=0) or 0)
        failed = annotations.fails(pod, job, before)
        self._store(pod, ended(pod, self._now(), failed=failed))

    def _save(self, place: Place, uid: str, begun: float) -> None:
        pod = self._living(place, uid)
        if pod is not None and not metadata(pod).get("deletionTimestamp"):
            done = int((self._elapsed() - begun) * self.speed)
            self._store(pod, saving.answered(pod, saving.step_before(pod) + done))

    def _stop(self, place: Place, uid: str) -> None:
        pod = self._living(place, uid)
        if pod is not None:
            self.writes.delete(self._pods, pod, DeleteOptions(grace=0))

    def _store(self, old: Object, new: Object) -> None:
        self.writes.commit_update(self._pods, old, new, _NOBODY)

    def _now(self) -> str:
        return wire_time(self.writes.clock())

    async def run(self) -> None:
        """Act on changes and timers until cancelled."""
        while True:
            self._woken.clear()
            self._step()
            if self._woken.is_set():
                await asyncio.sleep(0)
                continue
            wait = max(0.0, self._timers[0][0] - self._elapsed()) if self._timers else None
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()

    def _step(self) -> None:
        while self._timers and self._timers[0][0] <= self._elapsed():
            heapq.heappop(self._timers)[2]()
        places, self._dirty = list(self._dirty), {}
        for place in places:
            with suppress(ApiFailure):  # the Job or its namespace is going away, and says so itself
                self._sync(place)
        if self._pending and self._room_changed:
            self._room_changed = False
            self._schedule()

    def _sync(self, place: Place) -> None:
        job = self.store.peek(self._jobs, *place)
        if job is None:
            self._by_job.pop(place, None)
            return
        if dig(job, "spec", "managedBy") not in _MANAGED_BY:
            return
        uid = str(metadata(job).get("uid"))
        places = self._by_job.get(place, {})
        found = [pod for where in places if (pod := self.store.peek(self._pods, *where))]
        owned = [pod for pod in found if controller_of(pod).get("uid") == uid]
        if is_finished(job):
            self._expire(job, uid)
            return
        wanted = plan(job, owned, self._now(), overdue=_run_of(job) in self._overdue)
        if wanted is None:
            return
        status = {**job, "status": wanted.status}
        if wanted.status != job.get("status"):
            self.writes.commit_update(self._jobs, job, status, _JOB_CONTROLLER)
        for pod in wanted.delete:
            self.writes.delete(self._pods, pod, DeleteOptions())
            self._events.tell(job, job_events.deleted(pod))
        for pod in wanted.create:
            if not self._create(job, pod):
                break
        for said in job_events.turns(job, status):
            self._events.tell(job, said)
        self._watch_deadline(place)

    def _create(self, job: Object, pod: Object) -> bool:
        """Create a pod of a Job; False if it is refused, as the next one would be."""
        try:
            made = self.writes.create(pod, manager="kube-controller-manager")
        except ApiFailure as failure:
            self._events.tell(job, job_events.not_created(failure))
            return False
        self._events.tell(job, job_events.created(made))
        return True

    def _watch_deadline(self, place: Place) -> None:
        """Arm the deadline of this run; a suspension ends the run."""
        job = self.store.peek(self._jobs, *place)
        seconds = dig(job, "spec", "activeDeadlineSeconds")
        run = _run_of(job or {})
        if seconds is None or not run[1]:
            return

        def late() -> None:
            self._overdue.add(run)
            self._dirty[place] = None

        self._arm(run, float(seconds), late)

    def _expire(self, job: Object, uid: str) -> None:
        seconds = dig(job, "spec", "ttlSecondsAfterFinished")
        if seconds is None:
            return

        def remove() -> None:
            current = self.store.peek(self._jobs, *_place(job))
            if current is not None and metadata(current).get("uid") == uid:
                options = DeleteOptions(uid=uid, propagation="Background")
                self.writes.delete(self._jobs, current, options)

        self._arm((uid, "expire"), float(seconds), remove)

    def _schedule(self) -> None:
        """Place waiting pods, the most important and oldest first."""
        waiting = [pod for place in self._pending if (pod := self.store.peek(self._pods, *place))]
        for pod in sorted(waiting, key=_scheduling_order):
            room = chosen(pod, self._rooms.values())
            if room is not None:
                self._store(pod, bound(pod, name_of(room.node), self._now()))
                continue
            conditions = dig(pod, "status", "conditions", default=[])
            if not any(c.get("reason") == "Unschedulable" for c in conditions):
                self._store(pod, unschedulable(pod, len(self._rooms), self._now()))
        self._room_changed = False


def _place(obj: Object) -> Place:
    return namespace_of(obj), name_of(obj)


def _run_of(job: Object) -> tuple[str, str]:
    """Return what tells one run of a Job from the next: its uid and its start."""
    return str(metadata(job).get("uid")), str(dig(job, "status", "startTime", default=""))


def _job_place(pod: Object) -> Place | None:
    owner = controller_of(pod)
    return (namespace_of(pod), str(owner["name"])) if owner.get("kind") == "Job" else None


def _scheduling_order(pod: Object) -> tuple[int, str, Place]:
    priority = int(dig(pod, "spec", "priority", default=0) or 0)
    return -priority, str(metadata(pod).get("creationTimestamp")), _place(pod)


@asynccontextmanager
async def simulate(
    store: Store,
    *,
    nodes: Iterable[NodeShape] = (),
    speed: float = 1.0,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Simulation]:
    """Play Job controller, scheduler and kubelet on a store until the block ends."""
    writes = StoreWrites(store, clock)
    for shape in nodes:
        writes.create_or_replace(shape.wire(wire_time(clock())))
    catalog = store.catalog
    simulation = Simulation(
        store,
        writes,
        speed,
        catalog.builtin("batch", "jobs"),
        catalog.builtin("", "pods"),
        catalog.builtin("", "nodes"),
        job_events.JobEvents(writes),
    )
    stop = simulation.start()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(simulation.run(), name="simulation")
        try:
            yield simulation
        finally:
            stop()
            task.cancel()
