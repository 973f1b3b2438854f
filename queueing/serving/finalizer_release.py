"""Let go of everything when the definition of Workloads is about to be deleted.

Deleting a definition deletes its objects, and an object that keeps our finalizer would keep the
definition for ever once our permissions are gone, which one command removes along with it. So the
API server asks us first, while we still may, and goes on without an answer when nobody is there.
Invariant: a dry run changes nothing, and the deletion is never refused.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import ConflictError, KubeError, NotFoundError
from queueing.kube.request import ListQuery
from queueing.kube.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    QUEUEABLE_KINDS,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    WORKLOADS,
    Resource,
)
from queueing.webhooks.admission import IN_USE

logger = logging.getLogger(__name__)

PAGE = 500
AT_ONCE = 16
ATTEMPTS = 5
"""Tries to change one object that others change, too."""
HELD = (
    WORKLOADS,
    CLUSTER_QUEUES,
    RESOURCE_FLAVORS,
    ADMISSION_CHECKS,
    TOPOLOGIES,
    QUEUEABLE_KINDS,
)
DEFINITION = f"{WORKLOADS.plural}.{WORKLOADS.group}"


class _Meta(msgspec.Struct, rename="camel", frozen=True):
    name: str
    namespace: str = ""
    resource_version: str = ""
    finalizers: tuple[str, ...] = ()


class _Held(msgspec.Struct, frozen=True):
    metadata: _Meta


class _ListMeta(msgspec.Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _Page(msgspec.Struct, frozen=True):
    items: tuple[_Held, ...]
    metadata: _ListMeta = _ListMeta()


def is_uninstallation(body: Mapping[str, Any]) -> bool:
    """Say whether an AdmissionReview announces that Workloads go, and means it."""
    request = body.get("request") or {}
    goes = request.get("operation") == "DELETE" and request.get("name") == DEFINITION
    return goes and not request.get("dryRun")


async def release_finalizers(client: Client) -> tuple[int, list[str]]:
    """Take our finalizer off everything; what cannot be reached is told and left.

    Returns how many objects were let go of, and the kinds of which some are still held.
    """
    freed, held = 0, []
    for resource in HELD:
        try:
            count = await let_go_of(client, resource)
            logger.info("%d %s let go of", count, resource.plural)
            freed += count
        except* NotFoundError:
            logger.info("no %s are served any more", resource.plural)
        except* KubeError as errors:
            first = errors.exceptions[0]
            logger.warning("%s keep their finalizers: %s", resource.plural, first)
            held.append(resource.plural)
    return freed, held


async def let_go_of(client: Client, resource: Resource) -> int:
    """Take our finalizer off all objects of a kind; return off how many. Raises KubeError."""
    count, page = 0, _Page(())
    gate = asyncio.Semaphore(AT_ONCE)
    while True:
        query = ListQuery(limit=PAGE, continue_token=page.metadata.next)
        page = msgspec.json.decode(await client.list_page(resource.within(), query), type=_Page)
        held = [one.metadata for one in page.items if IN_USE in one.metadata.finalizers]
        async with asyncio.TaskGroup() as group:
            for meta in held:
                group.create_task(_strip(client, resource, meta, gate))
        count += len(held)
        if not page.metadata.next:
            return count


async def _strip(client: Client, resource: Resource, meta: _Meta, gate: asyncio.Semaphore) -> None:
    target = resource.at(meta.name, meta.namespace)
    async with gate:
        for _attempt in range(ATTEMPTS):
            kept = [name for name in meta.finalizers if name != IN_USE]
            change = {"resourceVersion": meta.resource_version, "finalizers": kept or None}
            try:
                await client.patch_merge(target, {"metadata": change})
            except NotFoundError:
                return
            except ConflictError:
                meta = msgspec.json.decode(await client.get(target), type=_Held).metadata
            else:
                return
        logger.warning("%s is written faster than it can be let go of", target.label)
