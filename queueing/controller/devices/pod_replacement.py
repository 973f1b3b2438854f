"""Has pods made anew that were created before anything gave them their claims.

Such a pod keeps its scheduling gate for ever: it never ran, and can be given no claim any more. It
is deleted once new ones would get theirs, and its Job makes another. The Job's finalizer is
taken off before, as the Job controller does with pods that it does not count as failed: a Job that
may not fail a single time takes no harm.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from queueing.controller.admission_policies.injection import Injecting, Trial
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.kube.deletion import this_life
from queueing.kube.errors import ConflictError, NotFoundError
from queueing.kube.resources import PODS
from queueing.translate.devices.delays import Pod

AT_ONCE = 100
"""Pods of one Job that are made anew at one look."""
TRACKING = "batch.kubernetes.io/job-tracking"
"""Finalizer of pods whose end the Job controller is to count."""
_pod = msgspec.json.Decoder(Pod)


@dataclass(frozen=True, slots=True)
class PodReplacement:
    """Deletes pods that came without their claims, when new ones would have them."""

    writes: LeaderWrites
    trial: Callable[[], Awaitable[Trial]]
    """Tries whether pods get their claims now."""
    doubt: Callable[[], None]
    """Hears that they do not."""

    async def remake(self, pods: Sequence[Pod]) -> int:
        """Delete what was left gated, and return how many these are. Raises KubeError."""
        if not pods:
            return 0
        found = await self.trial()
        if found.result is Injecting.FAILS:
            self.doubt()
        if found.result is not Injecting.WORKS:
            return 0
        return sum([await self._delete(one) for one in pods[:AT_ONCE]])

    async def _delete(self, pod: Pod) -> bool:
        """Delete a pod as it was seen; False when it is another by now."""
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
