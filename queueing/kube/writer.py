"""Orders writes: decisions first, then statuses, then Events, and one write per object at a time.

Run by `controller.session`. `controller.decisions` submits each decision, `controller.queues` each
status that changed, `kube.events` each Event.

A *job* here is a write with what belongs to it, not a Kubernetes Job. Invariants: two jobs of one
key never run at the same time, and jobs of one key and class run in the order of their submission.
A job starts only while none of a more urgent class waits, but each class may always have one in
flight, so that none starves. Events wait until the server is at rest, for a minute at most, unless
too many wait. Of jobs given to `submit_latest` only the newest runs, at most once per interval and
key.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from queueing.kube.pressure import Window

Job = Callable[[], Awaitable[None]]
"""One write with all that belongs to it; a failure that escapes it ends the writer."""


class WriteClass(IntEnum):
    """What a write is for; the lower the number, the sooner."""

    ADMISSION = 0
    STATUS = 1
    EVENT = 2


LIMITS: Mapping[WriteClass, int] = MappingProxyType(
    {WriteClass.ADMISSION: 32, WriteClass.STATUS: 8, WriteClass.EVENT: 2}
)
"""Writes in flight per class at most."""
DECISIONS_LEAST = 8
"""Decisions that may always be in flight.

A decision holds quota from the moment it is made. With more writes in flight it is older, and worse
informed, when it is stored, and whoever comes next waits for all of them: docs/decisions/0101.
"""
QUEUES_EACH = 8
"""Queues with workloads to be judged for each decision in flight."""

EVENTS_WAITING_MAX = 40_000
"""Events waiting at most, of about a kilobyte each. Half as many may wait for the server to be at
rest: the Events of a large burst."""
EVENT_PATIENCE_S = 300.0
"""Seconds for which an Event waits at most while the server is not at rest."""
EVENT_LOOK_S = 0.25
"""Seconds between looks at whether waiting Events may be written."""
STATUS_INTERVAL_S = 1.0
"""Least seconds between two jobs of `submit_latest` with the same key."""
AHEAD = 1 / 2
"""How many jobs may wait before `room` is 0, as a fraction of those that may run: enough that no
slot is idle while the next decisions are made."""
ROOM_LEAST = 1 / 4
"""The smallest `room` above 0, as a fraction of the jobs that may run: a cycle that decides a few
costs nearly as much as one that decides many."""


def decisions_at_once(queues: int) -> int:
    """Return how many decisions may be in flight if so many queues have workloads to be judged.

    With few beside the many writes of others, our part of a busy server would be too small to serve
    a thousand queues.
    """
    return min(max(DECISIONS_LEAST, queues // QUEUES_EACH), LIMITS[WriteClass.ADMISSION])


def _never() -> bool:
    return False


def _nobody() -> None:
    """Do nothing when called."""


class _Waiting(NamedTuple):
    key: str
    job: Job
    since: float


class Writer:
    """Runs jobs within the limits. `submit` does not await; the jobs run inside `run`.

    `pressed` says whether Events should wait because the server is not at rest. `window` limits the
    decisions in flight, in addition to the limit of their class.
    """

    def __init__(
        self,
        limits: Mapping[WriteClass, int] = LIMITS,
        *,
        interval_s: float = STATUS_INTERVAL_S,
        events_max: int = EVENTS_WAITING_MAX,
        pressed: Callable[[], bool] = _never,
        window: Window | None = None,
    ) -> None:
        self.ended: Callable[[], None] = _nobody
        """Called after each job."""
        self._limits = dict(limits)
        self._window = window
        self._interval_s = interval_s
        self._events_max = events_max
        self._pressed = pressed
        self._look: asyncio.TimerHandle | None = None
        self._waiting: dict[WriteClass, deque[_Waiting]] = {c: deque() for c in WriteClass}
        self._running: dict[WriteClass, int] = dict.fromkeys(WriteClass, 0)
        self._blocked: dict[str, deque[tuple[WriteClass, Job]]] = {}
        self._latest: dict[str, Job] = {}
        self._cooling: dict[str, asyncio.TimerHandle] = {}
        self._group: asyncio.TaskGroup | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self) -> None:
        """Run jobs until cancelled, which cancels those in flight: call `drain` before."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                self._start_what_may()
                await asyncio.Event().wait()
        finally:
            self._group = None
            for timer in (self._look, *self._cooling.values()):
                if timer is not None:
                    timer.cancel()
            self._cooling.clear()

    def submit(self, key: str, kind: WriteClass, job: Job) -> bool:
        """Queue a job; False, and nothing queued, if it is an event and too many wait already."""
        if kind is WriteClass.EVENT and len(self._waiting[kind]) >= self._events_max:
            return False
        self._waiting[kind].append(_Waiting(key, job, asyncio.get_running_loop().time()))
        self._idle.clear()
        self._start_what_may()
        return True

    def submit_latest(self, key: str, job: Job) -> None:
        """Queue a status write in place of any earlier one of this key that has not begun."""
        queued = key in self._latest
        self._latest[key] = job
        self._idle.clear()
        if not queued and key not in self._cooling:
            self._queue_latest(key)

    def waiting(self, kind: WriteClass) -> int:
        """Count the jobs of a class that wait for a slot: a measure of how far behind we are."""
        return len(self._waiting[kind])

    def room(self, kind: WriteClass, limit: int) -> int:
        """Return how many more jobs of a class could start soon; 0 while that is only a few.

        From here on at most so many run at a time as the limit says.
        """
        self._limits[kind] = limit
        if self._window is not None and kind is WriteClass.ADMISSION:
            self._window.most = limit
        most = self._most(kind)
        free = most + int(most * AHEAD) - self._running[kind] - len(self._waiting[kind])
        return free if free >= most * ROOM_LEAST else 0

    def is_busy(self, kind: WriteClass) -> bool:
        """Say whether a job of a class waits or runs."""
        return bool(self._waiting[kind]) or self._running[kind] > 0

    async def drain(self, timeout_s: float) -> bool:
        """Wait until all submitted jobs have run, Events too; False if the time was too short."""
        self._pressed = _never
        self._start_what_may()
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def _queue_latest(self, key: str) -> None:
        async def newest() -> None:
            loop = asyncio.get_running_loop()
            self._cooling[key] = loop.call_later(self._interval_s, self._cooled, key)
            await self._latest.pop(key)()

        self.submit(key, WriteClass.STATUS, newest)

    def _cooled(self, key: str) -> None:
        del self._cooling[key]
        if key in self._latest:
            self._queue_latest(key)

    def _start_what_may(self) -> None:
        if self._group is None:
            return
        higher_waits = False
        for kind in WriteClass:
            waiting = self._waiting[kind]
            while waiting and self._has_room(kind, higher_waits=higher_waits):
                key, job, _ = waiting.popleft()
                if key in self._blocked:
                    self._blocked[key].append((kind, job))
                    continue
                self._blocked[key] = deque()
                self._running[kind] += 1
                self._group.create_task(self._work(kind, key, job), name=f"write {key}")
            higher_waits = higher_waits or bool(waiting)

    def _has_room(self, kind: WriteClass, *, higher_waits: bool) -> bool:
        running = self._running[kind]
        if kind is WriteClass.EVENT and self._may_events_wait():
            return False
        return running == 0 or (running < self._most(kind) and not higher_waits)

    def _most(self, kind: WriteClass) -> int:
        most = self._limits[kind]
        if self._window is None or kind is not WriteClass.ADMISSION:
            return most
        return min(most, self._window.size)

    def _may_events_wait(self) -> bool:
        """Say whether all events should wait now; then they are looked at again soon."""
        events, loop = self._waiting[WriteClass.EVENT], asyncio.get_running_loop()
        is_due = events[0].since + EVENT_PATIENCE_S <= loop.time()
        if is_due or 2 * len(events) > self._events_max or not self._pressed():
            return False
        if self._look is None:
            self._look = loop.call_later(EVENT_LOOK_S, self._look_again)
        return True

    def _look_again(self) -> None:
        self._look = None
        self._start_what_may()

    async def _work(self, kind: WriteClass, key: str, job: Job) -> None:
        try:
            await job()
        except BaseException:
            self._group = None  # the end of this writer: nothing more is started
            raise
        self._running[kind] -= 1
        for other, held in reversed(self._blocked.pop(key)):
            self._waiting[other].appendleft(_Waiting(key, held, 0.0))
        self._start_what_may()
        self.ended()
        if not (self._blocked or self._latest or any(self._waiting.values())):
            self._idle.set()
