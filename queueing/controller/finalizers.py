"""The finalizer that keeps queues and flavors while they are used.

A ClusterQueue goes when nothing holds its quota; a ResourceFlavor and an AdmissionCheck when no
ClusterQueue names them, a Topology when no ResourceFlavor does.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import NoReturn

import msgspec

from queueing.controller.hand import Hand
from queueing.controller.objects import Objects
from queueing.core.names import QueueName
from queueing.kube.errors import KubeError
from queueing.kube.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    Resource,
)
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
            for resource, metas, is_used in self._kept():
                for meta in metas:
                    settled &= await self._tend(resource, meta, used=is_used(meta.name))
            if not settled:
                await asyncio.sleep(RETRY_S)
                self._wanted.set()

    def _kept(self) -> Iterator[tuple[Resource, list[Meta], Callable[[str], bool]]]:
        """Return what is kept while it is used, and how to tell."""
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
        yield TOPOLOGIES, [one.metadata for one in found.topologies.values()], places.__contains__

    def _queue_is_used(self, name: str) -> bool:
        view = self._engine.cluster_queue(QueueName(name))
        return view is not None and view.reserving > 0

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
