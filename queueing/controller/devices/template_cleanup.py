"""Deletes the templates of work that is over: those of many Workloads of a namespace at once.

Nobody waits for this. A life that is over never comes back, so whatever bears its uid may go, and
what is named by its content is made again by no other life. Where the server does not let us
delete by labels, they are deleted one by one.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from queueing.controller.stores.devices import DeviceMemory
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kube.errors import KubeError
from queueing.kube.resources import RESOURCE_CLAIM_TEMPLATES
from queueing.translate.devices.names import COMPUTE_DOMAIN, WORKLOAD_UID, is_named_by_content
from queueing.translate.wire.devices import ResourceClaimTemplate

logger = logging.getLogger(__name__)

GATHER_S = 1.0
WITHIN_S = 60.0
"""How long templates may stay while the API server is pressed."""
AT_ONCE_MAX = 64
"""Workloads named in one request: more would make its URL too long for some proxies."""
AGAIN_S = 10.0
"""After a request that failed, or did not delete everything."""
_NOT_ALLOWED = (403, 405)


@dataclass(slots=True)
class TemplateCleanup:
    """Gathers lives that are over, by namespace."""

    memory: DeviceMemory
    writes: LeaderWrites
    deferral: Deferral
    look_again: Callable[[Key], None]
    """Asks for another look at a life."""
    _since: dict[Key, float] = field(default_factory=dict)
    """By uid of the Workload: when its templates may go."""
    _may: bool = True

    def takes(self, uid: Key) -> bool:
        """Say whether the templates of a life that is over will be deleted here."""
        if not self._may or not all(_is_plain(one) for one in self.memory.templates_of(uid)):
            return False
        self._since.setdefault(uid, self.deferral.clock.monotonic())
        return True

    async def run(self) -> NoReturn:
        """Delete what was gathered, for ever."""
        while True:
            await asyncio.sleep(GATHER_S)
            await self.reap()

    async def reap(self) -> None:
        """Delete what was gathered, unless the server has better things to do."""
        now, due = self.deferral.clock.monotonic(), dict[str, list[Key]]()
        waits_s = WITHIN_S if self.deferral.was_pressed() else 0.0
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
        again = self.deferral.clock.monotonic() + AGAIN_S
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
            self.look_again(uid)
        self._since.clear()

    def _namespace_of(self, uid: Key) -> str:
        return next((one.metadata.namespace for one in self._of(uid)), "")

    def _of(self, uid: Key) -> Iterator[ResourceClaimTemplate]:
        return (one for one in self.memory.templates_of(uid) if not one.metadata.deleting)


def _is_plain(template: ResourceClaimTemplate) -> bool:
    """Say whether a template is named by its content, and nothing has to go before it."""
    meta = template.metadata
    return is_named_by_content(meta.name) and COMPUTE_DOMAIN not in meta.annotations
