"""Objects as they change, until the caller is cancelled."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import msgspec

from queueing.kube.client import Client
from queueing.kube.objects import ObjectMeta
from queueing.kube.reflector import Added, Modified, Reflector, WatchEvent
from queueing.kube.resources import Target


@dataclass(frozen=True, slots=True)
class _Seen:
    metadata: ObjectMeta
    value: dict[str, Any]


def _read(body: bytes | msgspec.Raw) -> _Seen:
    value = msgspec.json.decode(body)
    return _Seen(msgspec.convert(value["metadata"], ObjectMeta), value)


async def changes(client: Client, target: Target) -> AsyncIterator[dict[str, Any]]:
    """Yield each object of a collection that is new or changes; not those that are there already.

    A watch that is cut is resumed.
    """
    came: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def hear(event: WatchEvent[_Seen]) -> None:
        if isinstance(event, Added | Modified) and reflector.synced.is_set():
            came.put_nowait(event.object.value)

    reflector: Reflector[_Seen] = Reflector(client, target, _read, hear)
    async with asyncio.TaskGroup() as group:
        following = group.create_task(reflector.run(), name="watch")
        try:
            while True:
                yield await came.get()
        finally:
            following.cancel()
