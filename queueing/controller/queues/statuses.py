"""Writes the status of queues and cohorts: at most once per object and second, only the latest.

Statuses must not slow admissions down, which need the same API server. While admissions are being
written, the statuses of all objects share a small rate; while the server is slow, they get a small
fraction of all our writes. When it is quiet again they catch up. Metrics and the read models of the
serving process are told of the same changes.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NoReturn

from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import CohortName, Key, QueueName
from queueing.kube.errors import KubeError
from queueing.kube.pressure import Pressure
from queueing.kube.resources import CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, Target
from queueing.kube.writer import WriteClass, Writer
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.state.memory.memory import Changed
from queueing.translate.outbound.queues import (
    cluster_queue_status,
    cohort_status,
    local_queue_status,
)

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.25
"""Seconds between two looks for changes while the server is at rest."""
UNLESS_AT_REST_EVERY_S = 1.0
"""The same while it is not."""
AT_REST_MAX = 64
"""Status writes begun per look when the server is at rest and no admissions are being written."""
WHEN_BUSY_PER_SECOND = 8
"""At most so many while admissions are being written, or the server is not at rest."""
UNLESS_AT_REST_PER_SECOND = 2
"""At least so many, however slow the server is, so that every status is written in the end."""
OTHERS_PER_STATUS = 16
"""While the server is not at rest: one status write for so many writes of all kinds."""

Make = Callable[[], tuple[Target, bytes] | None]
"""Returns the address and the body of a status patch; None when nothing is to be written."""


def pace(*, busy: bool, at_rest: bool, written: int) -> tuple[int, float]:
    """Return how many status writes may begin now, and the seconds until the next look.

    `busy`: admissions are being written. `at_rest`: the server was not slow for some seconds.
    `written` counts all our writes since the last look.
    """
    if at_rest:
        return (round(WHEN_BUSY_PER_SECOND * LOOK_EVERY_S) if busy else AT_REST_MAX), LOOK_EVERY_S
    every_s = UNLESS_AT_REST_EVERY_S
    least, most = round(UNLESS_AT_REST_PER_SECOND * every_s), round(WHEN_BUSY_PER_SECOND * every_s)
    return min(max(written // OTHERS_PER_STATUS, least), most), every_s


class Statuses:
    """Follows the changes of queues and cohorts in the engine, and writes their status."""

    def __init__(
        self,
        engine: Engine,
        objects: Objects,
        *,
        writes: LeaderWrites,
        writer: Writer,
        pressure: Pressure,
    ) -> None:
        self._engine, self._objects = engine, objects
        self._writes, self._writer, self._pressure = writes, writer, pressure
        self._clock = pressure.clock
        self._due: dict[str, Make] = {}
        """Statuses to be written, by a name of the object; the longest due is first."""

    async def run(self, told: Callable[[Changed], None], *, with_share: bool) -> NoReturn:
        """Write the status of what changed, for ever; `told` gets each set of changes as well.

        `with_share`: fair sharing is on, so that statuses carry shares and Cohorts have one.
        """
        writes = 0
        while True:
            before, writes = writes, self._pressure.writes
            changed = self._engine.changed()
            told(changed)
            for queue in changed.cluster_queues:
                self._due[f"cq/{queue}"] = partial(self._cluster_queue, queue, with_share)
            for local in changed.local_queues:
                self._due[f"lq/{local}"] = partial(self._local_queue, local)
            for cohort in changed.cohorts if with_share else ():
                self._due[f"co/{cohort}"] = partial(self._cohort, cohort)
            busy = self._writer.is_busy(WriteClass.ADMISSION)
            at_rest = not self._pressure.was_high()
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
        found = self._objects.cluster_queues.get(name)
        view = reports.cluster_queue(self._engine.memory, name)
        if found is None or view is None:
            return None
        body = cluster_queue_status(found, view, self._clock.now(), with_share=with_share)
        return None if body is None else (CLUSTER_QUEUES.at(name, subresource="status"), body)

    def _local_queue(self, key: Key) -> tuple[Target, bytes] | None:
        found = self._objects.local_queues.get(key)
        view = reports.local_queue(self._engine.memory, key)
        if found is None or view is None:
            return None
        body = local_queue_status(found, view, self._clock.now())
        meta = found.metadata
        return (
            None if body is None else (LOCAL_QUEUES.at(meta.name, meta.namespace, "status"), body)
        )

    def _cohort(self, name: CohortName) -> tuple[Target, bytes] | None:
        found, view = self._objects.cohorts.get(name), reports.cohort(self._engine.memory, name)
        if found is None or view is None:
            return None
        body = cohort_status(found, view)
        return None if body is None else (COHORTS.at(name, subresource="status"), body)
