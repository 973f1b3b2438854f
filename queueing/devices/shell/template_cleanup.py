"""Deletes the templates of finished or deleted Workloads, those of many in one request.

It is not urgent. A Workload's uid never comes back, so everything with its uid label may go, and no
other Workload creates an object with the same digest in its name. Where the API server does not
allow `deletecollection`, `upkeep` deletes the templates one by one.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.wire.names import COMPUTE_DOMAIN, WORKLOAD_UID, is_named_by_content
from queueing.devices.wire.objects import ResourceClaimTemplate
from queueing.kube.errors import KubeError
from queueing.kube.pressure import Pressure
from queueing.kube.resources import RESOURCE_CLAIM_TEMPLATES
from queueing.kube.workqueue import WorkQueue

logger = logging.getLogger(__name__)

GATHER_S = 1.0
"""Seconds between two rounds of deletion."""
WITHIN_S = 60.0
"""Seconds for which templates may stay while the API server is slow."""
AT_ONCE_MAX = 64
"""Workloads per request: more would make its URL too long for some proxies."""
AGAIN_S = 10.0
"""Seconds until a request is repeated that failed, or did not delete everything."""
_NOT_ALLOWED = (403, 405)


@dataclass(slots=True)
class TemplateCleanup:
    """Gathers Workloads that are over, and deletes their templates by namespace."""

    memory: DeviceMemory
    writes: LeaderWrites
    pressure: Pressure
    queue: WorkQueue[Key]
    """Uids of Workloads that `upkeep` is to look at again."""
    _since: dict[Key, float] = field(default_factory=dict)
    """By uid of the Workload: from when on its templates may go (monotonic clock)."""
    _may: bool = True
    """The API server was not seen to refuse `deletecollection`."""

    def takes(self, uid: Key) -> bool:
        """Say whether the templates of a Workload that is over, by uid, will be deleted here."""
        if not self._may or not all(_is_plain(one) for one in self.memory.templates_of(uid)):
            return False
        self._since.setdefault(uid, self.pressure.clock.monotonic())
        return True

    async def run(self) -> NoReturn:
        """Delete the gathered templates every `GATHER_S`, for ever."""
        while True:
            await asyncio.sleep(GATHER_S)
            await self.reap()

    async def reap(self) -> None:
        """Delete the gathered templates that are due; while the server is slow few are."""
        now, due = self.pressure.clock.monotonic(), dict[str, list[Key]]()
        waits_s = WITHIN_S if self.pressure.was_high() else 0.0
        for uid, since in list(self._since.items()):
            namespace = self._namespace_of(uid)
            if not namespace:
                del self._since[uid]
            elif since + waits_s <= now:
                due.setdefault(namespace, []).append(uid)
        for namespace, uids in due.items():
            for start in range(0, len(uids), AT_ONCE_MAX):
                await self._delete(namespace, uids[start : start + AT_ONCE_MAX])

    async def _delete(self, namespace: str, uids: list[Key]) -> None:
        target = RESOURCE_CLAIM_TEMPLATES.within(namespace)
        again = self.pressure.clock.monotonic() + AGAIN_S
        self._since |= dict.fromkeys(uids, again)
        try:
            await self.writes.delete_all(target, f"{WORKLOAD_UID} in ({','.join(uids)})")
        except KubeError as error:
            logger.info("%s of work that is over stay for now: %s", target.label, error)
            if error.status in _NOT_ALLOWED:
                self._give_up()

    def _give_up(self) -> None:
        self._may = False
        for uid in self._since:
            self.queue.add(uid)
        self._since.clear()

    def _namespace_of(self, uid: Key) -> str:
        return next((one.metadata.namespace for one in self._of(uid)), "")

    def _of(self, uid: Key) -> Iterator[ResourceClaimTemplate]:
        return (one for one in self.memory.templates_of(uid) if not one.metadata.deleting)


def _is_plain(template: ResourceClaimTemplate) -> bool:
    """Say whether a template is named by its digest, and no ComputeDomain must go before it."""
    meta = template.metadata
    return is_named_by_content(meta.name) and COMPUTE_DOMAIN not in meta.annotations
