"""Evicts Workloads whose devices no longer match what was admitted.

There are two cases. A user changed a ResourceClaimTemplate that running pods name, so that the next
pods would get other devices. Or the charge of a Workload rises again: it was lowered to what its
claims were allocated, and a new pod's claim was allocated a device with a higher charge. The charge
never exceeds what was admitted; but if that quota is in use by others now, the Workload must go.
"""

from dataclasses import dataclass

from queueing.controller.term import Term
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.rules.messages import OUTGROWN, REPLACED
from queueing.devices.shell.starting import parts_of
from queueing.devices.wire.asks import devices_of
from queueing.devices.wire.bound import asked_by_users
from queueing.devices.wire.names import CLAIM_SPECS
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.outbound import workloads as outbound
from queueing.translate.problems import Problems
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEvictions:
    """Finds and evicts these Workloads, one at a time."""

    term: Term
    memory: DeviceMemory

    async def look(self, workload: Workload) -> bool:
        """Evict a Workload if its devices do not match, and say whether. Raises KubeError."""
        uid, grown = workload.metadata.uid, self.memory.holdings.grown
        if not workload.status.is_true("Admitted") or workload.finished:
            grown.discard(uid)
            return False
        if workload.status.is_true("Evicted"):
            return False
        if self._asks_for_another(workload):
            await self._evict(workload, REPLACED)
            return True
        leaves = uid in grown and self.term.engine.exceeds(workload.metadata.key, ())
        if leaves:
            await self._evict(workload, OUTGROWN)
        grown.discard(uid)
        return leaves

    def _asks_for_another(self, workload: Workload) -> bool:
        """Say whether a user's template that running pods name has changed since their start.

        A template that was deleted is no reason to evict: new pods wait until it is there again.
        """
        around = self.memory.surroundings(workload.metadata.namespace)
        for job, alone in parts_of(self.term.objects, workload):
            for mine, one in zip(job.pod_sets, alone.spec.pod_sets, strict=False):
                told = mine.template.metadata.annotations.get(CLAIM_SPECS, "")
                if job.suspended or not told:
                    continue
                now = asked_by_users(devices_of(one.template, around, one.name, Problems()))
                if now is not None and now.replaces(told):
                    return True
        return False

    async def _evict(self, workload: Workload, why: str) -> None:
        step = Evict(reason=EvictionReason.DEVICES_CHANGED, message=why)
        await self.term.writes.patch_workload(
            workload, outbound.evict(workload, step, self.term.clock.now())
        )
        self.term.events.evicted(workload.metadata, step, warning=True)
        self.term.reporter.evicted(workload, step.reason, "")
