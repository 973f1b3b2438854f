"""What the start of a Job needs of devices, and when its quota may be given back."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from queueing.controller.devices.claims import Claims
from queueing.controller.jobs.start_errors import DevicesRefusedError, NamespaceFullError
from queueing.controller.stores.devices import DeviceMemory
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.kube.errors import NotSentError
from queueing.translate.devices.messages import DeviceReason
from queueing.translate.devices.realisation import (
    NO_CHANGES,
    Owner,
    PodChanges,
    Realisation,
    realise,
)
from queueing.translate.devices.terms import UnservedError
from queueing.translate.jobs import batch
from queueing.translate.jobs.gang import gang_key, part_of, pod_set_name
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

LOOK_S = 0.5
"""How often is looked whether pods get their claims, while a start waits for that."""


@dataclass(frozen=True, slots=True)
class DeviceStart:
    """Asked by those who start Jobs, and by those who give quota back."""

    memory: DeviceMemory
    claims: Claims
    events: Events
    injects: Callable[[], bool] = lambda: True
    """Says whether the API server gives pods their claims by now: it does so only at creation."""
    _postponed: dict[str, None] = field(default_factory=dict)
    """Uids of Workloads whose start waits for that."""
    _is_postponed: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self, job: Job, workload: Workload) -> PodChanges:
        """Make what the pods of a Workload's only pod set will name, and return what they are told.

        Raises DevicesRefusedError when that can never be, KubeError to be called again.
        """
        if self.memory.catalog.is_empty:
            return NO_CHANGES
        try:
            made = self.realise(job, workload)
        except UnservedError as error:
            raise DevicesRefusedError(DeviceReason.UNSUPPORTED, str(error)) from error
        try:
            for wanted in made.objects:
                await self.claims.make(wanted)
        except NamespaceFullError as error:
            self._tell_quota(job, workload, error)
            raise
        changes = next(iter(made.changes.values()), NO_CHANGES)
        if changes.gates and not self.injects():
            self._postponed[workload.metadata.uid] = None
            self._is_postponed.set()
            raise NotSentError("the API server does not give pods their claims yet")
        return changes

    async def call_postponed(self, attend: Callable[[str], None]) -> NoReturn:
        """Have Workloads (by uid) looked at as soon as their pods would get claims, for ever.

        By themselves they would be tried again later and later, up to a minute.
        """
        while True:
            await self._is_postponed.wait()
            if not self.injects():
                await asyncio.sleep(LOOK_S)
                continue
            self._is_postponed.clear()
            called = list(self._postponed)
            self._postponed.clear()
            for uid in called:
                attend(uid)

    def _tell_quota(self, job: Job, workload: Workload, error: NamespaceFullError) -> None:
        text = f"A ResourceQuota of the namespace keeps the start back: {error}"
        reason = DeviceReason.NAMESPACE_QUOTA
        self.events.workload(workload.metadata, reason, text, warning=True)
        self.events.job(job.metadata, reason, text, warning=True)

    def realise(self, job: Job, workload: Workload) -> Realisation:
        """Return what an admission makes of devices for one Job. Raises UnservedError."""
        owner = Owner(
            api_version=batch.KIND.api_version, kind=batch.KIND.kind, metadata=job.metadata
        )
        return realise(workload, owner, self.memory.surroundings(job.metadata.namespace))

    def holds(self, workload: Workload) -> bool:
        """Say whether devices are still allocated to a Workload, so that its quota is not free."""
        claims = self.memory.claims_of(workload.metadata.uid)
        return any(one.status.allocation is not None for one in claims)


def parts_of(objects: Objects, workload: Workload) -> Iterator[tuple[Job, Workload]]:
    """Yield the Jobs of a Workload, each with the Workload as it is for that Job alone."""
    gang = gang_key(workload.metadata)
    for owner in workload.metadata.owner_references:
        key = objects.job_keys.get(owner.uid)
        if key is not None:
            job = objects.jobs[key]
            alone = workload
            if gang is not None:
                alone = part_of(workload, pod_set_name(job.metadata))
            yield job, alone


def named_by(job: Job, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the templates and claims that the pods of a started Job are told to use, or name."""
    template = batch.template_of(job)
    annotations: Mapping[str, Any] = template.metadata.annotations
    for name in names:
        yield from (one for one in annotations.get(name, "").split(",") if one)
    for claim in template.spec.resource_claims:
        yield claim.resource_claim_template_name or claim.resource_claim_name
