"""What the serving process is told: readiness, metrics, and who waits in which place.

Sent every few seconds, and only what changed, metrics when somebody scrapes; a serving process that
is away misses nothing, and is never waited for.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from queueing.clock import Clock
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.core.names import QueueName, name_of, namespace_of
from queueing.serving.frames import Frame, PendingRow
from queueing.serving.publisher import Publisher
from queueing.state.engine import Engine
from queueing.state.memory.views import PendingItem
from queueing.translate.times import timestamp

STANDING_EVERY_S = 0.25
LISTS_EVERY_S = 2.0
ALIVE_EVERY_S = 5.0


class Broadcast:
    """Tells the serving process of this replica how things are."""

    def __init__(self, path: Path, reporter: Reporter, clock: Clock) -> None:
        self._publisher = Publisher(path)
        self._reporter, self._clock = reporter, clock

    async def run(self) -> NoReturn:
        """Tell for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._publisher.run(), name="publisher")
            group.create_task(self._tell_lists(), name="pending lists")
            group.create_task(self._tell_metrics(), name="metrics")
            await self._tell_readiness()

    async def _tell_readiness(self) -> NoReturn:
        """Tell at once when the readiness changes, and now and then that we are alive."""
        told: tuple[bool, bool] | None = None
        alive_at = 0.0
        while True:
            readiness, now = self._reporter.readiness, self._clock.monotonic()
            present = (readiness.elected, readiness.ready)
            if present != told or now - alive_at >= ALIVE_EVERY_S:
                told, alive_at = present, now
                leading, ready = present
                self._publisher.publish(Frame(leading=leading, ready=ready, alive=now))
            await asyncio.sleep(STANDING_EVERY_S)

    async def _tell_metrics(self) -> NoReturn:
        """Tell them to whoever scrapes: to spell a thousand queues costs more than to admit 50."""
        asked = self._publisher.asked_for_metrics
        while True:
            await asked.wait()
            asked.clear()
            told = await self._reporter.expose()
            self._publisher.publish(Frame(metrics=told.body.decode()))

    async def _tell_lists(self) -> NoReturn:
        """Tell who waits, one queue at a time, so that a long one does not hold up decisions."""
        while True:
            taken = self._reporter.take_lists()
            if taken is not None:
                engine, objects, names = taken
                for name in names:
                    self._publisher.publish(Frame(queues={name: _rows(engine, objects, name)}))
                    await asyncio.sleep(0)
            await asyncio.sleep(LISTS_EVERY_S)


def _rows(engine: Engine, objects: Objects, name: QueueName) -> list[PendingRow] | None:
    if engine.cluster_queue(name) is None:
        return None
    return pending_rows(engine.pending(name), objects)


def pending_rows(items: Sequence[PendingItem], objects: Objects) -> list[PendingRow]:
    """Return the rows of pending workloads that still exist."""
    rows = []
    for item in items:
        found = objects.workloads.get(item.key)
        if found is None:
            continue
        owners: list[dict[str, object]] = [
            {"apiVersion": one.api_version, "kind": one.kind, "name": one.name, "uid": one.uid}
            for one in found.metadata.owner_references
        ]
        rows.append(
            PendingRow(
                namespace=namespace_of(item.key),
                name=name_of(item.key),
                priority=item.priority,
                local_queue=name_of(item.local_queue) if item.local_queue else "",
                position_in_cluster_queue=item.position_in_cluster_queue,
                position_in_local_queue=item.position_in_local_queue,
                created=timestamp(found.metadata.created),
                owners=owners,
            )
        )
    return rows
