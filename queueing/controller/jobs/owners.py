"""Reads owners of jobs that are not known: their kind is not turned on, or the watch lags behind.

A Job of a JobSet of a TrainJob is queued with the TrainJob, also where JobSets are not queued.
"""

from collections import ChainMap

import msgspec

from queueing.controller.stores.objects import Objects
from queueing.controller.writing.leader_writes import LeaderWrites, job_resource
from queueing.kinds.registry import KNOWN
from queueing.kube.errors import NotFoundError, NotPermittedError
from queueing.translate.jobs.management import DEPTH_MAX, controller_of, group_kind_of
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Identified, Meta, OwnerReference

REMEMBERED_MAX = 10_000
"""How many such owners are remembered."""


_identified = msgspec.json.Decoder(Identified)


class Owners:
    """What is known of such owners in one term, by uid."""

    def __init__(self, objects: Objects, writes: LeaderWrites) -> None:
        self._objects, self._writes = objects, writes
        self._kinds = ChainMap(objects.kinds, dict(KNOWN))
        self.passed: dict[str, Identified] = {}

    async def learn(self, job: JobView) -> None:
        """Read the owners above a job that are not known yet. Raises KubeError."""
        meta = job.metadata
        for _ in range(DEPTH_MAX + 1):
            above = controller_of(meta)
            if above is None or group_kind_of(above) not in self._kinds:
                return
            found = self._known(above) or await self._read(above, meta.namespace)
            if found is None:
                return
            meta = found

    def _known(self, above: OwnerReference) -> Meta | None:
        key = self._objects.job_keys.get(above.uid)
        if key is not None:
            return self._objects.jobs[key].metadata
        passed = self.passed.get(above.uid)
        return passed.metadata if passed is not None else None

    async def _read(self, above: OwnerReference, namespace: str) -> Meta | None:
        """Return an owner as it is stored; None when it is gone, or another by now.

        One of a kind that is followed is stored like any other, which the watch would do soon.
        """
        kind = self._kinds[group_kind_of(above)]
        target = job_resource(kind).at(above.name, namespace)
        is_followed = kind.group_kind in self._objects.kinds
        get = self._writes.client.get if is_followed else self._writes.client.get_metadata
        try:
            reply = await get(target)
        except NotFoundError:
            return None
        except NotPermittedError:
            if kind.group_kind in KNOWN:
                raise
            return None  # nobody describes the kind any more, or it is not queued as it is
        owner = _identified.decode(reply)
        found = owner.metadata
        if found.uid != above.uid:
            return None
        if is_followed:
            self._writes.absorb_job(reply, self._objects.kinds[kind.group_kind])
        self.passed[found.uid] = owner
        if len(self.passed) > REMEMBERED_MAX:
            del self.passed[next(iter(self.passed))]
        return found
