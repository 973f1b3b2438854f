"""Creates what the pods of a Job need of devices, and says when its quota may be released."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from queueing.controller.jobs.start_errors import DevicesRefusedError, NamespaceFullError
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.shell.claims import Claims
from queueing.devices.wire.realisation import (
    NO_CHANGES,
    ClaimOwner,
    PodChanges,
    Realisation,
    realise,
)
from queueing.devices.wire.terms import UnservedError
from queueing.kube.errors import NotSentError
from queueing.translate.jobs.gang import part_for
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

LOOK_S = 0.5
"""Seconds between looks at whether pods get their claims, while a start waits for that."""


@dataclass(frozen=True, slots=True)
class DeviceStart:
    """Called before starts and before releases, once the cluster has rules about devices."""

    memory: DeviceMemory
    claims: Claims
    events: Events
    injects: Callable[[], bool] = lambda: True
    """Says whether the API server adds claims to pods at their creation by now."""
    _postponed: dict[str, None] = field(default_factory=dict)
    """Uids of Workloads whose start waits until it does."""
    _is_postponed: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self, job: JobView, workload: Workload) -> PodChanges:
        """Create the templates and claims that the pods of a Workload's only pod set will name.

        Returns the changes of the pod template that name them. Raises DevicesRefusedError when they
        cannot be created as requested, KubeError to be called again.
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
        """Call `attend` with the uids of postponed Workloads when pods would get claims; for ever.

        The work queue alone would try them again only after a backoff of up to a minute.
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

    def _tell_quota(self, job: JobView, workload: Workload, error: NamespaceFullError) -> None:
        text = f"A ResourceQuota of the namespace keeps the start back: {error}"
        reason = DeviceReason.NAMESPACE_QUOTA
        self.events.workload(workload.metadata, reason, text, warning=True)
        self.events.job(job, reason, text, warning=True)

    def realise(self, job: JobView, workload: Workload) -> Realisation:
        """Return which objects and pod changes an admission becomes for one Job.

        Raises UnservedError when its flavor cannot serve what the pods request.
        """
        owner = ClaimOwner(
            api_version=job.kind.api_version, kind=job.kind.kind, metadata=job.metadata
        )
        return realise(workload, owner, self.memory.surroundings(job.metadata.namespace))

    def holds(self, workload: Workload) -> bool:
        """Say whether a claim of a Workload is still allocated, so that its quota is in use."""
        claims = self.memory.claims_of(workload.metadata.uid)
        return any(one.status.allocation is not None for one in claims)


def parts_of(objects: Objects, workload: Workload) -> Iterator[tuple[JobView, Workload]]:
    """Yield the Jobs of a Workload, each with a view of it that has their pod sets alone."""
    for job in objects.owners_of(workload):
        yield job, part_for(job, workload)


def named_by(job: JobView, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the templates and claims that the pods of a started Job use.

    By the annotations with the keys of `names`, which the start added, and by the user's own
    `spec.resourceClaims`.
    """
    for template in (one.template for one in job.pod_sets):
        annotations: Mapping[str, Any] = template.metadata.annotations
        for name in names:
            yield from (one for one in annotations.get(name, "").split(",") if one)
        for claim in template.spec.resource_claims:
            yield claim.resource_claim_template_name or claim.resource_claim_name
