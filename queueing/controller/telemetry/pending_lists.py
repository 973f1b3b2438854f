"""Parts of the list of a queue's pending workloads, for the visibility API; made when asked for."""

from collections.abc import Iterable, Iterator
from itertools import islice

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key, QueueName, name_of, namespace_of
from queueing.serving.frames import PendingPart, PendingRow
from queueing.state.engine import Engine
from queueing.state.memory.views import PendingItem
from queueing.translate.times import timestamp


def pending_rows(engine: Engine, objects: Objects, part: PendingPart) -> list[PendingRow] | None:
    """Return the part of a queue's list that is asked for; None when there is no such queue."""
    items = _items(engine, objects, part)
    if items is None:
        return None
    return _rows(islice(items, part.offset, part.offset + part.limit), objects)


def _items(engine: Engine, objects: Objects, part: PendingPart) -> Iterator[PendingItem] | None:
    if part.cluster_queue:
        name = QueueName(part.cluster_queue)
        return None if engine.cluster_queue(name) is None else engine.pending(name)
    key = Key(part.local_queue)
    queue = objects.local_queues.get(key)
    if queue is None:
        return None
    return engine.pending(QueueName(queue.spec.cluster_queue), key)


def _rows(items: Iterable[PendingItem], objects: Objects) -> list[PendingRow]:
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
