"""Reads all that is known of where the time of a workload went."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from queueing.checkpoints.rules.times import stages
from queueing.checkpoints.wire.inbound import BadTermsError, record
from queueing.checkpoints.wire.objects import Checkpoint
from queueing.cli.output import UsageProblem
from queueing.cli.resolving import resource_of
from queueing.controller.job_pods import claims_of, started_pods
from queueing.devices.wire.claim_times import scheduled, true_since
from queueing.devices.wire.delays import Pod
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.resources import CHECKPOINTS, EVENTS, WORKLOADS
from queueing.observe.waterfall import Happening, Phase, SeenPod, SeenWorkload
from queueing.translate.wire.meta import Identified, Meta, Wire
from queueing.translate.wire.workloads import Workload

T = TypeVar("T")


class _Regarding(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class _Event(Wire, frozen=True):
    """An Event, as `events.k8s.io` has it and as older writers fill it in."""

    metadata: Meta
    reason: str = ""
    note: str = ""
    event_time: datetime | None = None
    deprecated_first_timestamp: datetime | None = None
    regarding: _Regarding = _Regarding()

    @property
    def at(self) -> float:
        found = self.event_time or self.deprecated_first_timestamp
        return found.timestamp() if found is not None else self.metadata.created


@dataclass(slots=True)
class Reading:
    """What was read, and what could not be."""

    client: Client
    now: float
    unreadable: list[str] = field(default_factory=list)
    """Kinds that whoever asks may not read; the phases that they tell of are missing."""

    async def of(self, found: dict[str, Any]) -> SeenWorkload:
        """Return what is known of a Workload. Raises KubeError."""
        workload = msgspec.convert(found, Workload)
        meta = workload.metadata
        job = await self._job(meta)
        events = await self._events(meta.namespace, "Workload", meta.name, meta.uid)
        started = [] if job is None else await self._started(meta.owner_references[0].kind, job)
        pods = await self._readable("pods", started_pods(self.client, workload, Pod))
        return SeenWorkload(
            workload=workload,
            submitted=job.created if job is not None else None,
            unsuspended=started[-1] if started else None,
            happenings=tuple(Happening(one.at, one.reason, one.note) for one in events),
            evictions=tuple(await self._evictions(meta)),
            victims=tuple(await self._victims(meta)),
            claims=tuple(await self._claims(meta.namespace, pods)),
            pods=tuple(map(_seen_pod, pods)),
        )

    async def _readable(self, what: str, reads: Awaitable[list[T]]) -> list[T]:
        """Return what is read; nothing, which is noted, where that is not allowed."""
        try:
            return await reads
        except ForbiddenError:
            self._lack(what)
        except NotFoundError:
            return []  # the cluster does not have this kind
        return []

    async def _job(self, meta: Meta) -> Meta | None:
        if not meta.owner_references:
            return None
        owner = meta.owner_references[0]
        try:
            resource = await resource_of(self.client, owner.api_version, owner.kind)
            body = await self.client.get(resource.at(owner.name, meta.namespace))
        except (ForbiddenError, NotFoundError, UsageProblem):
            return None  # it, or its kind, is gone or not to be read
        job = msgspec.json.decode(body, type=Identified).metadata
        return job if job.uid == owner.uid else None

    async def _events(self, namespace: str, kind: str, name: str, uid: str) -> list[_Event]:
        chosen = f"regarding.kind={kind},regarding.name={name}"
        found = await self._readable(
            "events",
            list_all(self.client, EVENTS.within(namespace), _Event, field_selector=chosen),
        )
        return sorted((one for one in found if one.regarding.uid == uid), key=lambda one: one.at)

    async def _started(self, kind: str, job: Meta) -> list[float]:
        """Return when the job was started, each time."""
        events = await self._events(job.namespace, kind, job.name, job.uid)
        return [one.at for one in events if one.reason == "Started"]

    async def _checkpoints(self, namespace: str) -> list[Checkpoint]:
        return await self._readable(
            "checkpoints", list_all(self.client, CHECKPOINTS.within(namespace), Checkpoint)
        )

    async def _evictions(self, meta: Meta) -> list[Phase]:
        found = await self._checkpoints(meta.namespace)
        return [self._told(one, "eviction") for one in found if one.spec.workload.uid == meta.uid]

    async def _victims(self, meta: Meta) -> list[Phase]:
        """Return who was preempted for a workload: with their stages if they could save."""
        saves: dict[str, list[Checkpoint]] = {}
        victims = []
        for event in await self._preemptions(meta):
            at, victim = event.at, event.regarding
            if victim.namespace not in saves:
                saves[victim.namespace] = await self._checkpoints(victim.namespace)
            asked = (
                one
                for one in saves[victim.namespace]
                if (one.spec.workload.uid, one.spec.preemptor) == (victim.uid, meta.uid)
            )
            name = f"{victim.namespace}/{victim.name}"
            saved = next(asked, None)
            if saved is not None:
                victims.append(self._told(saved, name))
            else:
                victims.append(Phase(name=name, began=at, ended=await self._released(victim, at)))
        return victims

    async def _preemptions(self, meta: Meta) -> list[_Event]:
        """Return the Events of those that were preempted for a workload, in any namespace."""
        chosen = "reason=Preempted"
        try:
            found = await list_all(self.client, EVENTS.within(), _Event, field_selector=chosen)
        except ForbiddenError:
            own = EVENTS.within(meta.namespace)
            found = await self._readable(
                "events", list_all(self.client, own, _Event, field_selector=chosen)
            )
            self._lack("victims of other namespaces")
        return [one for one in found if f"(UID: {meta.uid}," in one.note]

    async def _released(self, victim: _Regarding, since: float) -> float | None:
        """Return when a victim gave its quota back; None if it has not."""
        target = WORKLOADS.at(victim.name, victim.namespace)
        try:
            status = msgspec.json.decode(await self.client.get(target), type=Workload).status
        except (ForbiddenError, NotFoundError):
            return since
        ends = (status.changed("Requeued"), status.changed("QuotaReserved"))
        return min((one for one in ends if one is not None and one >= since - 1.0), default=None)

    async def _claims(self, namespace: str, pods: Sequence[Pod]) -> list[Phase]:
        """Return how long the claims of pods took: until they were allocated."""
        found = await self._readable("resourceclaims", claims_of(self.client, namespace, pods))
        return [Phase(name=one.name, began=one.made, ended=one.allocated) for one in found]

    def _lack(self, what: str) -> None:
        if what not in self.unreadable:
            self.unreadable.append(what)

    def _told(self, found: Checkpoint, name: str) -> Phase:
        """Return a request to save as a phase, with its stages."""
        began = found.spec.requested_at.timestamp()
        try:
            read = record(found)
        except BadTermsError:
            return Phase(name=name, began=began, ended=began)
        parts = tuple(
            Phase(name=one.name, began=one.began, ended=one.ended) for one in stages(read, self.now)
        )
        ended = None if read.is_open else max([began, *(one.ended for one in parts if one.ended)])
        return Phase(name=name, began=began, ended=ended, inside=parts)


def _seen_pod(pod: Pod) -> SeenPod:
    return SeenPod(pod.metadata.created, scheduled(pod), true_since(pod, "Ready"))
