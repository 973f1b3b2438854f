"""The finalizer `kueue.x-k8s.io/resource-in-use`, which keeps queues and flavors while in use.

It is removed from an object that is being deleted: from a ClusterQueue when nothing holds its
quota, from a ResourceFlavor and an AdmissionCheck when no ClusterQueue names them, from a Topology
when no ResourceFlavor does. Invariant: no quota is reserved in a ClusterQueue or flavor that does
not carry the finalizer yet. Webhooks add it at creation; where there are none, it is added when the
object is first seen, and admissions wait for that.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn
from weakref import WeakValueDictionary

import msgspec

from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import QueueName
from queueing.kube.errors import ConflictError, KubeError, NotFoundError, RefusedError
from queueing.kube.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    Resource,
)
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.translate.inbound.surroundings import nearer
from queueing.translate.labels import RESOURCE_IN_USE
from queueing.translate.wire.meta import Meta

logger = logging.getLogger(__name__)

RETRY_S = 1.0
"""Seconds between looks while an object is being deleted, or could not be written."""
AT_ONCE = 8
"""How many objects are written at the same time. One after the other, a thousand new queues would
take minutes on a busy server, and the first admission of each waits for its queue."""
ATTEMPTS = 5
"""Attempts to add the finalizer before an admission, if others write the object meanwhile."""


class _Kept(msgspec.Struct, frozen=True):
    """An object of any kind, decoded for its metadata alone."""

    metadata: Meta


_KEPT = msgspec.json.Decoder(_Kept)


class Finalizers:
    """Adds the finalizer to new objects, and removes it from those that may be deleted.

    `wanted` is set when all objects are to be looked at. With `further`, topologies that only our
    annotation on a flavor names are in use, too.
    """

    def __init__(
        self,
        objects: Objects,
        engine: Engine,
        writes: LeaderWrites,
        wanted: asyncio.Event,
        *,
        further: bool,
    ) -> None:
        self._objects, self._engine, self._writes = objects, engine, writes
        self._wanted, self._further = wanted, further
        self._written: dict[str, Meta] = {}
        """By kind and name: metadata of a reply, which the watch may not have shown yet."""
        self._taking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By kind and name: locked while the finalizer is being added for an admission."""

    async def hold(self, queue: QueueName, flavors: Iterable[str]) -> bool:
        """Make sure that a ClusterQueue and flavors carry the finalizer; False when they do not.

        Called before each admission; sends nothing where the finalizer is known to be there. False
        when an object is gone or being deleted, or others keep writing it. Where the server refuses
        the finalizer (by an admission policy, say), admissions go on without it. Raises other
        KubeErrors.
        """
        found = self._objects
        for resource, one in (
            (CLUSTER_QUEUES, found.cluster_queues.get(queue)),
            *((RESOURCE_FLAVORS, found.flavors.get(name)) for name in flavors),
        ):
            if one is None:
                return False
            meta = self._newest(resource, one.metadata) if self._written else one.metadata
            if RESOURCE_IN_USE in meta.finalizers:
                continue
            async with self._lock_of(f"{resource.kind} {meta.name}"):
                if not await self._take(resource, meta):
                    return False
        return True

    def _lock_of(self, named: str) -> asyncio.Lock:
        return self._taking.setdefault(named, asyncio.Lock())

    async def _take(self, resource: Resource, meta: Meta) -> bool:
        """Add the finalizer to an object, by its newest version; True when admissions may go on."""
        target = resource.at(meta.name)
        for _ in range(ATTEMPTS):
            meta = self._newest(resource, meta)
            if RESOURCE_IN_USE in meta.finalizers:
                return True
            if meta.deleting:
                return False
            try:
                await self._write(resource, meta, [*meta.finalizers, RESOURCE_IN_USE])
            except ConflictError:
                meta = self._note(resource, await self._writes.client.get(target))
            except NotFoundError:
                return False
            except RefusedError as error:
                logger.warning("%s can go while it is used: %s", target.label, error)
                return True
        return False

    async def run(self) -> NoReturn:
        """Look whenever asked, and every second while an object is being deleted; for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if not await self._look():
                await asyncio.sleep(RETRY_S)
                self._wanted.set()

    async def _look(self) -> bool:
        """Add and remove finalizers where needed; False when another look is needed soon."""
        settled = True
        for resource, metas, is_used in self._kept():
            newest = [self._newest(resource, meta) for meta in metas]
            wrong = [
                meta for meta in newest if meta.deleting or RESOURCE_IN_USE not in meta.finalizers
            ]
            for start in range(0, len(wrong), AT_ONCE):
                async with asyncio.TaskGroup() as group:
                    several = wrong[start : start + AT_ONCE]
                    tending = [
                        group.create_task(self._tend(resource, meta, is_used)) for meta in several
                    ]
                settled &= all(one.result() for one in tending)
        return settled

    def _kept(self) -> Iterator[tuple[Resource, list[Meta], Callable[[str], bool]]]:
        """Yield the kinds that carry the finalizer, their objects, and whether a name is in use."""
        found = self._objects
        queues, flavors = found.cluster_queues.values(), found.flavors.values()
        yield CLUSTER_QUEUES, [one.metadata for one in queues], self._queue_is_used
        named = {
            flavor.name
            for queue in queues
            for group in queue.spec.resource_groups
            for flavor in group.flavors
        }
        yield RESOURCE_FLAVORS, [one.metadata for one in flavors], named.__contains__
        checks = {
            rule.name
            for queue in queues
            for rule in queue.spec.admission_checks_strategy.admission_checks
        }
        yield ADMISSION_CHECKS, [one.metadata for one in found.checks.values()], checks.__contains__
        places = {one.spec.topology_name for one in flavors}
        if self._further:
            places.update(name for one in flavors for name in nearer(one))
        yield TOPOLOGIES, [one.metadata for one in found.topologies.values()], places.__contains__

    def _queue_is_used(self, name: str) -> bool:
        view = reports.cluster_queue(self._engine.memory, QueueName(name))
        return view is not None and view.reserving > 0

    async def _tend(self, resource: Resource, meta: Meta, is_used: Callable[[str], bool]) -> bool:
        """Add or remove one object's finalizer if needed; False when it needs another look soon."""
        meta = self._newest(resource, meta)
        is_held = RESOURCE_IN_USE in meta.finalizers
        if is_held != meta.deleting or (meta.deleting and is_used(meta.name)):
            return not meta.deleting
        kept = [name for name in meta.finalizers if name != RESOURCE_IN_USE]
        wanted = kept if meta.deleting else [*kept, RESOURCE_IN_USE]
        try:
            await self._write(resource, meta, wanted)
        except KubeError as error:
            logger.debug("%s %s: the finalizer stays: %s", resource.kind, meta.name, error)
            return error.status == 404  # noqa: PLR2004 - gone
        return True

    async def _write(self, resource: Resource, meta: Meta, finalizers: list[str]) -> None:
        change = {"resourceVersion": meta.resource_version, "finalizers": finalizers or None}
        body = msgspec.json.encode({"metadata": change})
        self._note(resource, await self._writes.patch(resource.at(meta.name), body))

    def _note(self, resource: Resource, reply: bytes) -> Meta:
        meta = _KEPT.decode(reply).metadata
        self._written[f"{resource.kind} {meta.name}"] = meta
        return meta

    def _newest(self, resource: Resource, seen: Meta) -> Meta:
        """Return the newest metadata of an object: `seen` by the watch, or of a reply to us."""
        named = f"{resource.kind} {seen.name}"
        told = self._written.get(named)
        if told is not None and told.uid == seen.uid and told.is_newer_than(seen):
            return told
        self._written.pop(named, None)
        return seen
