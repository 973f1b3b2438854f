"""Nobody decides while an installation goes, so that nothing is taken hold of again.

A leader puts its finalizer back on a queue that lost it, and makes Workloads that carry it. What it
does so between our letting go and the end of our permissions, nobody could undo any more. The API
server may begin to delete objects long after it has accepted that a definition goes. So we take the
Lease first. A leader that sees it in other hands stops, and no other replica may have it
for as long as all takes; if the deletion comes to nothing, one of them leads again after that.
"""

import asyncio
import logging
from dataclasses import replace

from queueing.clock import Clock
from queueing.kube.client import Client
from queueing.kube.errors import ConflictError, KubeError
from queueing.kube.lease_record import KubeLeaseStore, LeaseRecord
from queueing.kube.resources import Target
from queueing.serving.finalizer_release import release_finalizers

logger = logging.getLogger(__name__)

HOLDER = "queueing-is-uninstalled"
"""Who holds the Lease then: nobody who decides anything."""
HELD_S = 60.0
"""How long no replica may lead; a review may last half of it."""
PASSES = 3
"""Looks at everything: somebody else may have made a queue during the first one."""
_ATTEMPTS = 5
_TIMEOUT_S = 5.0


class Uninstallation:
    """Lets go of everything, for good.

    `lease` is that of the leaders, None where nobody is elected. A leader sees within `noticed_s`
    seconds that it lost it.
    """

    def __init__(
        self, client: Client, clock: Clock, lease: Target | None = None, noticed_s: float = 0.0
    ) -> None:
        self._client, self._clock = client, clock
        self._lease, self._noticed_s = lease, noticed_s

    async def __call__(self) -> None:
        """Silence whoever leads, then take our finalizer off everything."""
        try:
            if await self._silence():
                await asyncio.sleep(self._noticed_s)
        except KubeError as error:
            logger.warning("whoever leads goes on while everything is let go of: %s", error)
        for _ in range(PASSES):
            freed, _held = await release_finalizers(self._client)
            if not freed:
                return

    async def _silence(self) -> bool:
        """Take the Lease, and say whether somebody may have led until now."""
        if self._lease is None:
            return False
        store = KubeLeaseStore(self._client, self._lease.name, self._lease.namespace)
        for _ in range(_ATTEMPTS):
            found = await store.read(_TIMEOUT_S)
            if found is None or found.holder == HOLDER:
                return False
            try:
                await store.write(self._taken(found), _TIMEOUT_S)
            except ConflictError:
                continue  # renewed just then
            logger.info("the Lease is taken from %s: all is let go of", found.holder or "nobody")
            return bool(found.holder)
        return True

    def _taken(self, found: LeaseRecord) -> LeaseRecord:
        now = self._clock.now()
        return replace(
            found,
            holder=HOLDER,
            duration_s=HELD_S,
            acquired=now,
            renewed=now,
            transitions=found.transitions + 1,
        )
