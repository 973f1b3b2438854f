"""Reads owners of jobs that are not known: their kind is not turned on, or the watch lags behind.

A Job of a JobSet of a TrainJob is queued with the TrainJob, also where JobSets are not queued.
"""

import msgspec

from queueing.controller.jobs.ancestry import Ancestry, QueuedElsewhere
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites, job_resource
from queueing.kinds.owners import DEPTH_MAX, Owned, OwnerGoneError, OwnersError
from queueing.kinds.registry import LOOKED_THROUGH
from queueing.kube.errors import NotFoundError, NotPermittedError
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Identified, OwnerReference

REMEMBERED_MAX = 10_000
"""How many such owners are remembered."""


_identified = msgspec.json.Decoder(Identified)


class Owners:
    """Completes what is known of owners in one term."""

    def __init__(self, objects: Objects, writes: LeaderWrites, ancestry: Ancestry) -> None:
        self._objects, self._writes, self._ancestry = objects, writes, ancestry

    async def learn(self, job: JobView) -> None:
        """Read the owners above a job that are not known yet. Raises KubeError and OwnersError."""
        for _ in range(DEPTH_MAX + 1):
            above = self._ancestry.unknown_above(job)
            if above is None or not await self._read(above, job.metadata.namespace):
                return

    async def is_part(self, job: JobView) -> bool:
        """Say whether a job is queued with the one that owns it. Raises KubeError."""
        if not job.metadata.owner_references:
            return False
        try:
            await self.learn(job)
            return self._ancestry.ancestor_of(job) is not None
        except OwnersError:
            return True  # its own look says so

    async def _read(self, above: OwnerReference, namespace: str) -> bool:
        """Take note of an owner as it is stored; False for one that may not be read.

        One of a kind that is followed is stored like any other, which the watch would do soon.
        """
        of = above.group_kind
        kind = self._ancestry.kinds[of]
        target = job_resource(kind).at(above.name, namespace)
        is_followed = of in self._objects.kinds
        get = self._writes.client.get if is_followed else self._writes.client.get_metadata
        try:
            reply = await get(target)
        except NotFoundError as error:
            raise OwnerGoneError(above) from error
        except NotPermittedError:
            if of in LOOKED_THROUGH or of in self._objects.external:
                raise
            return False  # nobody describes the kind any more, or it is not queued as it is
        owner = _identified.decode(reply)
        is_meant = owner.metadata.uid == above.uid
        if is_meant and is_followed:
            self._writes.replies.absorb_job(reply, kind)
        passed = self._ancestry.passed
        known: Owned = QueuedElsewhere(owner.metadata) if of in self._objects.external else owner
        passed[above.uid] = known if is_meant else None
        if len(passed) > REMEMBERED_MAX:
            del passed[next(iter(passed))]
        return True
