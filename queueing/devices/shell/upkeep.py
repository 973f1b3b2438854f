"""Deletes templates and claims that are not needed any more, and recreates those that are.

By Workload, identified by its uid. While it runs, a template or a ComputeDomain that somebody
deleted is created again, so that its next pods start.
"""

from collections.abc import Callable
from dataclasses import dataclass

from queueing.controller.jobs.start_errors import DevicesRefusedError
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.names import Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.shell.claims import Claims
from queueing.devices.shell.evictions import DeviceEvictions
from queueing.devices.shell.starting import DeviceStart, named_by, parts_of
from queueing.devices.shell.template_cleanup import TemplateCleanup
from queueing.devices.wire.names import INJECT_CLAIM, INJECT_TEMPLATE
from queueing.devices.wire.terms import UnservedError
from queueing.kube.resources import RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from queueing.translate.wire.workloads import Workload

_TOLD = {INJECT_TEMPLATE: "", INJECT_CLAIM: ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Reconciles the templates and claims of one Workload at a time."""

    objects: Objects
    memory: DeviceMemory
    start: DeviceStart
    claims: Claims
    events: Events
    evictions: DeviceEvictions
    template_cleanup: TemplateCleanup
    workload_of: Callable[[str], Workload | None]

    async def look(self, uid: Key) -> None:
        """Delete what a Workload (a uid) does not need, create what it does; or evict it.

        Raises KubeError to be called again.
        """
        workload = self.workload_of(uid)
        if workload is not None and workload.status.is_true("Evicted") and _holds_quota(workload):
            return  # it drains: its pods may still be on their way out
        if workload is not None and await self.evictions.look(workload):
            return
        needed = set() if workload is None else await self._needed(workload)
        over = workload is None or workload.finished
        reaped = over and self.template_cleanup.takes(uid)
        for template in list(self.memory.templates_of(uid)):
            if not reaped and template.metadata.name not in needed:
                await self.claims.remove(RESOURCE_CLAIM_TEMPLATES, template.metadata)
        for claim in list(self.memory.claims_of(uid)):
            of_a_pod = any(one.kind == "Pod" for one in claim.metadata.owner_references)
            if not of_a_pod and claim.metadata.name not in needed:
                await self.claims.remove(RESOURCE_CLAIMS, claim.metadata)

    async def _needed(self, workload: Workload) -> set[str]:
        """Return the names of the objects that a Workload with quota needs.

        Those of Jobs that run are created where they are missing.
        """
        needed: set[str] = set()
        if not _holds_quota(workload) or workload.finished:
            return needed
        for job, alone in parts_of(self.objects, workload):
            if job.metadata.deleting:
                continue  # what belongs to it goes with it
            if not job.suspended:
                # What its pods name stays, even if the rules have changed since the start.
                needed.update(named_by(job, _TOLD))
            try:
                wanted = self.start.realise(job, alone).objects
            except UnservedError:
                continue
            needed.update(one["metadata"]["name"] for one in wanted)
            if job.suspended:
                continue
            try:
                for one in wanted:
                    await self.claims.make(one)
            except DevicesRefusedError as error:
                meta = workload.metadata
                self.events.workload(meta, error.reason, error.message, warning=True)
        return needed


def _holds_quota(workload: Workload) -> bool:
    return workload.status.admission is not None
