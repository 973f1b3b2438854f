"""The finalizer that keeps queues and flavors while they are used.

A ClusterQueue goes when nothing holds its quota; a ResourceFlavor when no ClusterQueue names it.
"""

import asyncio
import logging
from typing import NoReturn

import msgspec

from queueing.controller.hand import Hand
from queueing.controller.objects import Objects
from queueing.core.names import QueueName
from queueing.kube.errors import KubeError
from queueing.kube.resources import CLUSTER_QUEUES, RESOURCE_FLAVORS, Resource
from queueing.state.engine import Engine
from queueing.translate.labels import RESOURCE_IN_USE
from queueing.translate.wire.meta import Meta

logger = logging.getLogger(__name__)

RETRY_S = 1.0


class Finalizers:
    """Adds the finalizer to what is new, and takes it off what may go."""

    def __init__(self, objects: Objects, engine: Engine, hand: Hand) -> None:
        self._objects, self._engine, self._hand = objects, engine, hand
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """Ask for a look."""
        self._wanted.set()

    async def run(self) -> NoReturn:
        """Look whenever something may have changed; while something is dying, every second."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            settled = True
            for queue in list(self._objects.cluster_queues.values()):
                used = self._queue_is_used(QueueName(queue.metadata.name))
                settled &= await self._tend(CLUSTER_QUEUES, queue.metadata, used=used)
            named = self._named_flavors()
            for flavor in list(self._objects.flavors.values()):
                used = flavor.metadata.name in named
                settled &= await self._tend(RESOURCE_FLAVORS, flavor.metadata, used=used)
            if not settled:
                await asyncio.sleep(RETRY_S)
                self._wanted.set()

    def _queue_is_used(self, name: QueueName) -> bool:
        view = self._engine.cluster_queue(name)
        return view is not None and view.reserving > 0

    def _named_flavors(self) -> set[str]:
        return {
            flavor.name
            for queue in self._objects.cluster_queues.values()
            for group in queue.spec.resource_groups
            for flavor in group.flavors
        }

    async def _tend(self, resource: Resource, meta: Meta, *, used: bool) -> bool:
        """Put the finalizer right; False when the object must be looked at again."""
        held = RESOURCE_IN_USE in meta.finalizers
        if held != meta.deleting or (meta.deleting and used):
            return not meta.deleting
        kept = [name for name in meta.finalizers if name != RESOURCE_IN_USE]
        wanted = kept if meta.deleting else [*kept, RESOURCE_IN_USE]
        body = {
            "metadata": {"resourceVersion": meta.resource_version, "finalizers": wanted or None}
        }
        try:
            await self._hand.patch(resource.at(meta.name), msgspec.json.encode(body))
        except KubeError as error:
            logger.debug("%s %s: the finalizer stays: %s", resource.kind, meta.name, error)
            return error.status == 404  # noqa: PLR2004 - gone
        return True
