"""Why workloads wait, written into their status: late, seldom and never in the way.

A workload that is admitted soon after it came is never written to say that it waits. The reason is
written when it changes; a new message for the same reason only now and then, because the numbers
in it change with every admission of others. A workload that was never judged itself, because one
judged alike stands for it, gets the reason found for that one. When that one is judged again, the
others' statuses give an old reason: they are gone through while the server is at rest, some each
second, and a few of those that say something else than what is known are written.

One reason is written at once: a preemptor says that it waits for preempted workloads before the
first of these is evicted. By that the next leader knows who waits for whom.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from itertools import islice
from operator import length_hint
from typing import NoReturn, Protocol

from queueing.clock import Clock
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.names import Key
from queueing.kube.errors import KubeError, may_pass
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import Condition
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0
"""How long a workload waits before its status says so."""
PATIENCE_UNTOLD_S = 5.0
"""The same for one that another stands for: most are admitted before, and need no write."""
MESSAGE_EVERY_S = 30.0
PER_SECOND_MAX = 25.0
"""Reasons written in a second by a server at rest, with no admission under way."""
WHEN_BUSY_PER_SECOND = 5.0
"""The same while admissions are written."""
WHEN_PRESSED_PER_SECOND = 1.0
"""The same while the server is slower than it can be."""
COMPARED_PER_SECOND = 64
"""Statuses of who waits that are compared with what is known, while the server is at rest."""
CORRECTED_PER_SECOND = 2
"""How many of these are written: a queue may have ten thousand who wait for the same."""


class StatusWriter(Protocol):
    """Who writes into a Workload's status."""

    async def patch_workload(self, of: Workload, body: bytes) -> None: ...


class Knowledge(Protocol):
    """What the engine knows of who waits."""

    def waiting(self, workload: Key) -> Wait | None: ...

    def settled(self, workload: Key) -> Wait | None: ...

    def pending_keys(self) -> list[Key]: ...


_OUT_OF_THE_QUEUE = frozenset(
    {Reason.DEACTIVATED, Reason.SUSPENDED, Reason.ADMISSION_GATED, Reason.ON_HOLD}
)
"""Reasons that are no longer true of one who waits for its turn."""


def _pace(*, busy: bool, pressed: bool) -> float:
    """Return how many reasons may be written in a second."""
    if pressed:
        return WHEN_PRESSED_PER_SECOND
    return WHEN_BUSY_PER_SECOND if busy else PER_SECOND_MAX


def _said(found: Workload) -> Condition | None:
    told = (one for one in found.status.conditions if one.type in {"QuotaReserved", "Finished"})
    return next(told, None)


def _says_something(found: Workload) -> bool:
    said = _said(found)
    return said is not None and (said.status == "True" or said.reason not in _OUT_OF_THE_QUEUE)


def _reserved(found: Workload) -> Condition:
    """Return what a status says of the reservation; an empty condition when it says nothing."""
    return found.status.condition("QuotaReserved") or Condition(type="QuotaReserved")


def _may_say(found: Workload, wait: Wait) -> bool:
    """Say whether a wait is still of this workload, and its status does not say something else."""
    ended = found.status.condition("Finished") is not None
    if found.metadata.life != wait.uid or ended or _reserved(found).status == "True":
        return False
    requeued = found.status.condition("Requeued")
    return requeued is None or requeued.status != "False"  # what set it aside has said why


class WaitingReasons:
    """The latest reason of each waiting workload, and the writer of them."""

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
        """Pending, of whom nothing was said, and since when: oldest first, as in `_noted`."""
        self._written: dict[Key, float] = {}
        self._telling: dict[Key, asyncio.Event] = {}
        """Whose reason is being written because somebody waits for that."""
        self._to_compare: Iterator[Key] = iter(())
        self._compared_at = float("-inf")

    def expect(self, key: Key) -> None:
        """See to it that one which says nothing yet, or why it was out of the queue, is told."""
        found = self._objects.workloads.get(key)
        if found is not None and not _says_something(found):
            self._untold.setdefault(key, self._clock.monotonic())

    def note(self, wait: Wait) -> None:
        """Remember why a workload waits; the newest reason replaces an older one."""
        if wait.requeue is Requeue.NOT_HEAD:
            return
        self._untold.pop(wait.workload, None)
        since, _ = self._noted.get(wait.workload, (self._clock.monotonic(), wait))
        self._noted[wait.workload] = (since, wait)

    async def tell(self, key: Key) -> None:
        """Write the reason of a workload now, if its status gives another one or none.

        Returns when that is done, or did not come about; who asks meanwhile waits for the same.
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
        """Forget a workload that does not wait any more."""
        self._noted.pop(key, None)
        self._untold.pop(key, None)
        self._written.pop(key, None)

    async def run(self, busy: Callable[[], bool], pressed: Callable[[], bool]) -> NoReturn:
        """Write what has been noted for long enough, the oldest first; for ever.

        `busy` tells whether something more urgent is being written, `pressed` whether the API
        server takes its time for that.
        """
        while True:
            is_busy, is_pressed = busy(), pressed()
            await asyncio.sleep(1.0 / _pace(busy=is_busy, pressed=is_pressed))
            await self.write_one()
            if not (is_busy or is_pressed):
                self.compare()

    async def write_one(self) -> None:
        """Write the oldest note that is due, if there is one."""
        due = self._next()
        if due is not None:
            await self._write(due)

    def compare(self) -> None:
        """Note the reasons of some whose statuses give an older one; at most once a second."""
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
        """Return why a workload waits if its status has given another reason for long enough."""
        wait, found = self._knowledge.settled(key), self._objects.workloads.get(key)
        if wait is None or wait.requeue is Requeue.NOT_HEAD or found is None or key in self._noted:
            return None
        is_old = _says_something(found) and self._is_news(found, wait, self._clock.monotonic())
        return wait if is_old else None

    def _next(self) -> Wait | None:
        """Take the oldest note that is due and says something new."""
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
        """Note the reason of the one of whom nothing was said for longest."""
        key, since = next(iter(self._untold.items()), (None, now))
        if key is None or since + PATIENCE_UNTOLD_S > now:
            return
        del self._untold[key]
        wait, found = self._knowledge.waiting(key), self._objects.workloads.get(key)
        silent = found is None or _said(found) is None
        if wait is not None and wait.requeue is Requeue.NOT_HEAD and silent:
            self._untold[key] = now  # its turn may come: look again later
        elif wait is not None:
            self._noted.setdefault(key, (now, wait))

    def _is_news(self, found: Workload, wait: Wait, now: float) -> bool:
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
        self._events.waits(found.metadata, wait.reason, wait.message)
