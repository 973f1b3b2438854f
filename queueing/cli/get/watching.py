"""Objects as they change, until the caller is cancelled."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import KubeError, NotFoundError
from queueing.kube.objects import ObjectMeta, key_of
from queueing.kube.reflector import (
    Added,
    Deleted,
    Modified,
    Reflector,
    ReflectorSettings,
    WatchEvent,
)
from queueing.kube.resources import Resource, Target

LOOK_S = 0.02
"""Seconds between looks at whether a list has come or failed."""


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


class _Spec(msgspec.Struct):
    queueName: str = ""  # noqa: N815 - as the API spells it
    active: bool = True


class _Status(msgspec.Struct):
    conditions: Sequence[dict[str, Any]] = ()


class _Workload(msgspec.Struct):
    metadata: dict[str, Any]
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


_WORKLOADS = msgspec.json.Decoder(_Workload)


def workload_row(body: bytes | msgspec.Raw) -> _Seen:
    """Read of a Workload what tells how it stands, without the templates of its pods."""
    found = _WORKLOADS.decode(body)
    found.metadata.pop("managedFields", None)
    value = {
        "metadata": found.metadata,
        "spec": {"queueName": found.spec.queueName, "active": found.spec.active},
        "status": {"conditions": found.status.conditions},
    }
    return _Seen(msgspec.convert(found.metadata, ObjectMeta), value)


class Collection:
    """All objects of a kind as they are now, kept up to date by a watch."""

    def __init__(self, client: Client, resource: Resource) -> None:
        self._known: dict[str, dict[str, Any]] = {}
        read = workload_row if resource.kind == "Workload" else _read
        self.reflector: Reflector[_Seen] = Reflector(
            client, resource.within(), read, self._hear, ReflectorSettings(roles_s=0.0)
        )

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Its objects, by namespace and name."""
        return [self._known[key] for key in sorted(self._known)]

    @property
    def trouble(self) -> KubeError | None:
        """What keeps it from being up to date; a kind that was never there has no objects."""
        error, was_there = self.reflector.error, self.reflector.synced.is_set()
        return error if was_there or not isinstance(error, NotFoundError) else None

    async def until_known(self) -> None:
        """Wait for the first list. Raises KubeError when it fails: nobody looks yet at `trouble`.

        A reflector by itself tries again for ever.
        """
        while self.reflector.error is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self.reflector.synced.wait()
                    return
        if not self.reflector.synced.is_set() and self.trouble is not None:
            raise self.trouble

    def _hear(self, event: WatchEvent[_Seen]) -> None:
        if isinstance(event, Deleted):
            self._known.pop(event.key, None)
        elif isinstance(event, Added | Modified):
            self._known[key_of(event.object.metadata)] = event.object.value


@contextlib.asynccontextmanager
async def followed(client: Client, *resources: Resource) -> AsyncIterator[list[Collection]]:
    """Follow the objects of some kinds for as long as the block runs, all of them being known.

    Raises KubeError if one cannot be read, and what the block raises for who called.
    """
    found = [Collection(client, one) for one in resources]
    problem: Exception | None = None
    async with asyncio.TaskGroup() as group:
        following = [group.create_task(one.reflector.run(), name="watch") for one in found]
        try:
            for one in found:
                await one.until_known()
            yield found
        except (KubeError, click.ClickException) as error:
            problem = error  # out of the group, which would wrap it
        finally:
            for task in following:
                task.cancel()
    if problem is not None:
        raise problem
