"""Status of queues and cohorts: at most one write per object and second, the latest wins.

While admissions are being written the statuses of all objects share a small rate, and while the API
server is not at rest a small part of our writes, because the server's time is what admissions are
made of, and a slow server has less of it. As soon as it is quiet they catch up. Gauges and read
models hear of the same changes.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NoReturn

from queueing.controller.stores.objects import Objects
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import CohortName, Key, QueueName
from queueing.kube.errors import KubeError
from queueing.kube.resources import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, Target
from queueing.kube.writer import WriteClass, Writer
from queueing.state.engine import Engine
from queueing.state.memory.views import Changed
from queueing.translate.outbound.queues import (
    cluster_queue_status,
    cohort_status,
    local_queue_status,
)

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.25
UNLESS_AT_REST_EVERY_S = 1.0
AT_REST_MAX = 64
"""Writes begun per look when nothing else is being written."""
WHEN_BUSY_PER_SECOND = 8
"""Writes begun beside admissions at most, also while the server is not at rest."""
UNLESS_AT_REST_PER_SECOND = 2
"""Writes begun at least, however slow the server is: nobody's status waits for ever."""
OTHERS_PER_STATUS = 16
"""Writes of ours for each status of a queue that is begun while the server is not at rest."""

Make = Callable[[], tuple[Target, bytes] | None]


def pace(*, busy: bool, at_rest: bool, written: int) -> tuple[int, float]:
    """Return how many writes may begin now, and the seconds until the next look.

    `written` counts all our writes since the last look.
    """
    if at_rest:
        return (round(WHEN_BUSY_PER_SECOND * LOOK_EVERY_S) if busy else AT_REST_MAX), LOOK_EVERY_S
    every_s = UNLESS_AT_REST_EVERY_S
    least, most = round(UNLESS_AT_REST_PER_SECOND * every_s), round(WHEN_BUSY_PER_SECOND * every_s)
    return min(max(written // OTHERS_PER_STATUS, least), most), every_s


class Statuses:
    """Follows what changed in the engine, and writes it down."""

    def __init__(
        self,
        engine: Engine,
        objects: Objects,
        *,
        writes: LeaderWrites,
        writer: Writer,
        deferral: Deferral,
    ) -> None:
        self._engine, self._objects = engine, objects
        self._writes, self._writer, self._deferral = writes, writer, deferral
        self._clock = deferral.clock
        self._due: dict[str, Make] = {}
        """What is to be written, those that changed first in front."""

    async def run(self, told: Callable[[Changed], None], *, with_share: bool) -> NoReturn:
        """Look for changes, for ever; `told` hears of them too, for metrics and read models."""
        writes = 0
        while True:
            before, writes = writes, self._deferral.pressure.writes
            changed = self._engine.changed()
            told(changed)
            for queue in changed.cluster_queues:
                self._due[f"cq/{queue}"] = partial(self._cluster_queue, queue, with_share)
            for local in changed.local_queues:
                self._due[f"lq/{local}"] = partial(self._local_queue, local)
            for cohort in changed.cohorts if with_share else ():
                self._due[f"co/{cohort}"] = partial(self._cohort, cohort)
            busy = self._writer.is_busy(WriteClass.ADMISSION)
            at_rest = not self._deferral.was_pressed()
            most, rests_s = pace(busy=busy, at_rest=at_rest, written=writes - before)
            for key in list(islice(self._due, most)):
                self._submit(key, self._due.pop(key))
            await asyncio.sleep(rests_s)

    def _submit(self, key: str, make: Make) -> None:
        self._writer.submit_latest(key, partial(self._write, key, make))

    async def _write(self, key: str, make: Make) -> None:
        made = make()
        if made is None:
            return
        target, body = made
        try:
            await self._writes.patch(target, body)
        except KubeError as error:
            logger.debug("%s: the status was not written: %s", target.label, error)
            if error.status not in (404, 409, 422):
                self._due[key] = make

    def _cluster_queue(
        self,
        name: QueueName,
        with_share: bool,  # noqa: FBT001 - bound by partial
    ) -> tuple[Target, bytes] | None:
        found, view = self._objects.cluster_queues.get(name), self._engine.cluster_queue(name)
        if found is None or view is None:
            return None
        body = cluster_queue_status(found, view, self._clock.now(), with_share=with_share)
        return None if body is None else (CLUSTER_QUEUES.at(name, subresource="status"), body)

    def _local_queue(self, key: Key) -> tuple[Target, bytes] | None:
        found, view = self._objects.local_queues.get(key), self._engine.local_queue(key)
        if found is None or view is None:
            return None
        body = local_queue_status(found, view, self._clock.now())
        meta = found.metadata
        return (
            None if body is None else (LOCAL_QUEUES.at(meta.name, meta.namespace, "status"), body)
        )

    def _cohort(self, name: CohortName) -> tuple[Target, bytes] | None:
        found, view = self._objects.cohorts.get(name), self._engine.cohort(name)
        if found is None or view is None:
            return None
        body = cohort_status(found, view)
        return None if body is None else (COHORTS.at(name, subresource="status"), body)
