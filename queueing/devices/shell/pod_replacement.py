"""Replaces pods that were created without their claims.

A pod gets its claims at creation or never, since `spec.resourceClaims` is immutable. Without them
it keeps its scheduling gate for ever. It is deleted once new pods would get theirs, and its Job
creates another. The Job controller's finalizer is removed first, so that the deletion does not
count as a failed pod, which a Job with `backoffLimit: 0` would not survive.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from queueing.controller.admission_policies.injection import Injecting, Trial
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.devices.wire.delays import Pod
from queueing.kube.deletion import this_life
from queueing.kube.errors import ConflictError, NotFoundError
from queueing.kube.resources import PODS

AT_ONCE = 100
"""How many pods of a Job are deleted per look."""
TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer by which the Job controller counts pods that have ended
(https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers)."""
_pod = msgspec.json.Decoder(Pod)


@dataclass(frozen=True, slots=True)
class PodReplacement:
    """Deletes pods that lack their claims, when new ones would get them."""

    writes: LeaderWrites
    trial: Callable[[], Awaitable[Trial]]
    """Tries, by a dry run, whether pods get their claims now."""
    doubt: Callable[[], None]
    """Called when they do not."""

    async def remake(self, pods: Sequence[Pod]) -> int:
        """Delete pods that were left gated; return how many were deleted. Raises KubeError."""
        if not pods:
            return 0
        found = await self.trial()
        if found.result is Injecting.FAILS:
            self.doubt()
        if found.result is not Injecting.WORKS:
            return 0
        return sum([await self._delete(one) for one in pods[:AT_ONCE]])

    async def _delete(self, pod: Pod) -> bool:
        """Delete a pod in the version that was seen; False when it has changed or is gone."""
        meta = pod.metadata
        target = PODS.at(meta.name, meta.namespace)
        version = meta.resource_version
        kept = [one for one in meta.finalizers if one != TRACKING]
        try:
            if kept != meta.finalizers:
                change = {"metadata": {"resourceVersion": version, "finalizers": kept}}
                reply = await self.writes.patch(target, msgspec.json.encode(change))
                version = _pod.decode(reply).metadata.resource_version
            await self.writes.delete(target, this_life(meta.uid, version=version))
        except (ConflictError, NotFoundError):
            return False
        return True
