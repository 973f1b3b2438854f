"""Writes why a Workload waits: into its status and as an Event, without slowing admissions down.

- A workload that is admitted soon after its creation is never written to say that it waits.
- A reason is written when it changes. A new message with the same reason is written at most every
  `MESSAGE_EVERY_S`, because its numbers change with each admission of other workloads.
- Of equivalent workloads (peers, `state.queues.peers`) the engine judges one for all; the others
  get its reason. When it is judged again, the statuses of the others are out of date. While the
  server is at rest they are compared with what the engine knows, some per second, and a few of
  those that differ are written.
- What was written is repeated as an Event of the Workload. Its Jobs get one when the reason is
  another than before. Events go at their own, slower pace.
- One reason is written at once: that of a preemptor, before the first of its victims is evicted.
  From it, the next leader knows which workload waits for which victims.
"""

import asyncio
import logging
from collections.abc import Iterator
from itertools import islice
from operator import length_hint
from typing import NoReturn, Protocol

from queueing.clock import Clock
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.names import Key
from queueing.kube.errors import KubeError, may_pass
from queueing.kube.pressure import Pressure
from queueing.kube.writer import WriteClass, Writer
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import Condition
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0
"""Seconds for which a workload waits before its status says so: many are admitted sooner."""
PATIENCE_UNTOLD_S = 5.0
"""The same for a workload that was not judged itself: most are admitted before, unwritten."""
MESSAGE_EVERY_S = 30.0
"""Least seconds between two messages with the same reason."""
PER_SECOND_MAX = 25.0
"""Reasons written per second while the server is at rest and no admissions are being written."""
WHEN_BUSY_PER_SECOND = 5.0
"""The same while admissions are being written."""
WHEN_PRESSED_PER_SECOND = 1.0
"""The same while the server is slow."""
COMPARED_PER_SECOND = 64
"""Statuses of pending workloads compared with the engine per second, by a server at rest."""
CORRECTED_PER_SECOND = 2
"""How many of these are written: ten thousand workloads of a queue may wait for the same."""


class StatusWriter(Protocol):
    """Writes a Workload's status; `LeaderWrites` is one."""

    async def patch_workload(self, of: Workload, body: bytes) -> None: ...


class Knowledge(Protocol):
    """The part of the engine that is needed here; `Engine` says what the methods return."""

    def waiting(self, workload: Key) -> Wait | None: ...

    def settled(self, workload: Key) -> Wait | None: ...

    def pending_keys(self) -> list[Key]: ...


_OUT_OF_THE_QUEUE = frozenset(
    {Reason.DEACTIVATED, Reason.SUSPENDED, Reason.ADMISSION_GATED, Reason.ON_HOLD}
)
"""Reasons of workloads that were in no queue; not true of one that waits in a queue now."""


_TELLING = frozenset({"QuotaReserved", "Finished"})


def _pace(*, busy: bool, pressed: bool) -> float:
    """Return how many reasons may be written in a second."""
    if pressed:
        return WHEN_PRESSED_PER_SECOND
    return WHEN_BUSY_PER_SECOND if busy else PER_SECOND_MAX


def _says_something(found: Workload) -> bool:
    """Say whether a status tells where its workload stands, and not that it is in no queue."""
    for one in found.status.conditions:
        if one.type in _TELLING:
            return one.status == "True" or one.reason not in _OUT_OF_THE_QUEUE
    return False


def _reserved(found: Workload) -> Condition:
    """Return the condition `QuotaReserved`; one without status and reason if it is missing."""
    return found.status.condition("QuotaReserved") or Condition(type="QuotaReserved")


def _may_say(found: Workload, wait: Wait) -> bool:
    """Say whether a reason may be written: it is of this Workload, which still waits in a queue."""
    ended = found.status.condition("Finished") is not None
    if found.metadata.life != wait.uid or ended or _reserved(found).status == "True":
        return False
    requeued = found.status.condition("Requeued")
    return requeued is None or requeued.status != "False"  # False already says why it is held


class WaitingReasons:
    """The latest reason of each waiting workload, and the loop that writes them.

    Made once for a term. `effects` notes reasons; `session` runs the loop.
    """

    def __init__(
        self,
        objects: Objects,
        writer: StatusWriter,
        events: Events,
        clock: Clock,
        *,
        knowledge: Knowledge,
    ) -> None:
        self._objects, self._writer, self._events = objects, writer, events
        self._clock, self._knowledge = clock, knowledge
        self._noted: dict[Key, tuple[float, Wait]] = {}
        self._untold: dict[Key, float] = {}
        """Workloads whose status says nothing yet, and since when; the oldest first."""
        self._written: dict[Key, float] = {}
        """When the last reason of a workload was written (monotonic clock)."""
        self._telling: dict[Key, asyncio.Event] = {}
        """Preemptors whose reason is being written by `tell`; set when that has ended."""
        self._to_compare: Iterator[Key] = iter(())
        self._compared_at = float("-inf")

    def expect(self, key: Key) -> None:
        """Have the reason of a Workload written if its status says nothing, or nothing true.

        Called whenever the Workload has changed; one that was deleted is forgotten.
        """
        found = self._objects.workloads.get(key)
        if found is None:
            self.forget(key)
        elif not _says_something(found):
            self._untold.setdefault(key, self._clock.monotonic())

    def note(self, wait: Wait) -> None:
        """Remember why a workload waits, in place of what was remembered; written when it is due.

        One that is only behind others in its queue was not judged, so it has no reason of its own.
        """
        if wait.requeue is Requeue.NOT_HEAD:
            return
        self._untold.pop(wait.workload, None)
        since, _ = self._noted.get(wait.workload, (self._clock.monotonic(), wait))
        self._noted[wait.workload] = (since, wait)

    async def tell(self, key: Key) -> None:
        """Write the reason of a preemptor now, unless its status gives it already.

        Returns when the write has ended, also if it failed. Calls that come meanwhile wait for the
        same write.
        """
        told = self._telling.get(key)
        if told is not None:
            await told.wait()
            return
        _, wait = self._noted.get(key, (0.0, None))
        found = self._objects.workloads.get(key)
        if wait is None or found is None or not _may_say(found, wait):
            return
        if _reserved(found).reason == wait.reason:
            return
        del self._noted[key]
        self._written[key] = self._clock.monotonic()
        told = self._telling[key] = asyncio.Event()
        try:
            await self._write(wait)
        finally:
            del self._telling[key]
            told.set()

    def forget(self, key: Key) -> None:
        """Forget a workload that waits no longer."""
        self._noted.pop(key, None)
        self._untold.pop(key, None)
        self._written.pop(key, None)

    async def run(self, writer: Writer, pressure: Pressure) -> NoReturn:
        """Write reasons that are due, the oldest first; for ever.

        Fewer while admissions are being written, or the API server is slow.
        """
        while True:
            is_busy, is_pressed = writer.is_busy(WriteClass.ADMISSION), pressure.is_high()
            await asyncio.sleep(1.0 / _pace(busy=is_busy, pressed=is_pressed))
            await self.write_one()
            if not (is_busy or is_pressed):
                self.compare()

    async def write_one(self) -> None:
        """Write the oldest reason that is due, if there is one."""
        due = self._next()
        if due is not None:
            await self._write(due)

    def compare(self) -> None:
        """Note the reasons of some workloads whose status gives an older one; at most every second.

        Goes round all pending workloads, `COMPARED_PER_SECOND` at a time.
        """
        now = self._clock.monotonic()
        if now < self._compared_at + 1.0:
            return
        self._compared_at = now
        looked_at = islice(self._to_compare, COMPARED_PER_SECOND)
        corrected = islice(filter(None, map(self._correction, looked_at)), CORRECTED_PER_SECOND)
        for wait in corrected:
            self.note(wait)
        if not length_hint(self._to_compare):
            self._to_compare = iter(self._knowledge.pending_keys())

    def _correction(self, key: Key) -> Wait | None:
        """Return why a workload waits if its status says something else; None otherwise."""
        wait, found = self._knowledge.settled(key), self._objects.workloads.get(key)
        if wait is None or wait.requeue is Requeue.NOT_HEAD or found is None or key in self._noted:
            return None
        is_old = _says_something(found) and self._is_news(found, wait, self._clock.monotonic())
        return wait if is_old else None

    def _next(self) -> Wait | None:
        """Remove and return the oldest reason that is due and not in the status yet."""
        now = self._clock.monotonic()
        self._ask_of_untold(now)
        while self._noted:
            key, (since, wait) = next(iter(self._noted.items()))
            if since + PATIENCE_S > now:
                return None
            del self._noted[key]
            found = self._objects.workloads.get(key)
            if found is None:
                self._written.pop(key, None)
            elif self._is_news(found, wait, now):
                self._written[key] = now
                return wait
        return None

    def _ask_of_untold(self, now: float) -> None:
        """Note the engine's reason for the workload whose status has said nothing for longest."""
        key, since = next(iter(self._untold.items()), (None, now))
        if key is None or since + PATIENCE_UNTOLD_S > now:
            return
        del self._untold[key]
        wait, found = self._knowledge.waiting(key), self._objects.workloads.get(key)
        silent = found is None or not any(one.type in _TELLING for one in found.status.conditions)
        if wait is not None and wait.requeue is Requeue.NOT_HEAD and silent:
            self._untold[key] = now  # not judged yet: ask again later
        elif wait is not None:
            self._noted.setdefault(key, (now, wait))

    def _is_news(self, found: Workload, wait: Wait, now: float) -> bool:
        """Say whether a reason differs from the status, or its message does and may be written."""
        if not _may_say(found, wait):
            return False
        known = _reserved(found)
        if known.reason != wait.reason:
            return True
        recently = now - self._written.get(wait.workload, -MESSAGE_EVERY_S) < MESSAGE_EVERY_S
        return known.message != wait.message and not recently

    async def _write(self, wait: Wait) -> None:
        found = self._objects.workloads.get(wait.workload)
        if found is None:
            return
        try:
            await self._writer.patch_workload(found, outbound.wait(found, wait, self._clock.now()))
        except KubeError as error:
            logger.debug("%s: the reason to wait was not written: %s", wait.workload, error)
            if may_pass(error):
                self.expect(wait.workload)
            return
        is_new = _reserved(found).reason != wait.reason
        jobs = self._objects.owners_of(found) if is_new else []
        self._events.waits(found.metadata, wait.reason, wait.message, jobs)
