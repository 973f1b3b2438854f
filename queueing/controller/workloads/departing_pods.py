"""Finds out whether pods of deleted Jobs still run.

A Job that is deleted with background propagation, the default of kubectl, is gone at once. The
garbage collector deletes its pods afterwards, and each may take its grace period to end; until then
they use what the quota was reserved for. There is no Job any more whose status would count them, so
the pods are listed.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queueing.checkpoints.wire.objects import Pod
from queueing.clock import Clock
from queueing.controller.job_pods import labelled_pods
from queueing.core.names import Uid
from queueing.kube.client import Client
from queueing.translate.jobs.slices import name_on_pods
from queueing.translate.labels import POD_JOB_UID, POD_SET, POD_WORKLOAD, SLICE_NAME
from queueing.translate.wire.workloads import Workload

AGAIN_S = 1.0
"""Seconds for which the result of a list is used, and between two questions about a Job."""
FORGOTTEN_S = 60.0
"""Seconds without a question after which a Job, and what was found of its pods, is forgotten."""
_TOGETHER = 50
"""Values per request: they are part of the URL."""


@dataclass(frozen=True, slots=True)
class JobPods:
    """The pods of a Job, by its uid."""

    job: Uid

    @property
    def label(self) -> tuple[str, str]:
        """Name and value of the label by which they are listed."""
        return POD_JOB_UID, self.job


@dataclass(frozen=True, slots=True)
class PodSetPods:
    """The pods that a Workload's start created for one of its pod sets.

    This finds the pods of a gang's member. When its Job is gone, the garbage collector removes the
    owner reference from the gang's Workload, and no object has the Job's uid any more.
    """

    workload: str
    pod_set: str

    @property
    def label(self) -> tuple[str, str]:
        """Name and value of the label by which they are listed."""
        return POD_SET, self.pod_set


Pods = JobPods | PodSetPods


def of_workload(workload: Workload) -> list[Pods]:
    """Return the pods that a Workload's start created, of each of its pod sets."""
    name = name_on_pods(workload.metadata)
    return [PodSetPods(name, one.name) for one in workload.spec.pod_sets]


class DepartingPods:
    """Asked by the reconcilers before the quota of a deleted Job is released.

    One list serves all Jobs of a namespace that are asked about, so that a thousand Jobs that are
    deleted together cost twenty requests per second.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._namespaces: dict[str, _Namespace] = {}

    async def remain(self, namespace: str, pods: Pods) -> bool:
        """Say whether a deleted Job has pods that have not ended.

        The first question about a Job is always answered with True; it is listed with the next.
        Pods that do not name a Job as their owner any more were orphaned on purpose
        (`--cascade=orphan`) and do not count. Raises KubeError.
        """
        now = self._clock.now()
        found = self._namespaces.get(namespace)
        if found is None:
            self._forget_namespaces(now)
            found = self._namespaces[namespace] = _Namespace(namespace, now)
        if not found.ask(pods, now):
            return True
        if found.has_gone(pods):
            return False
        async with found.lock:
            if not found.is_fresh(self._clock.now()):
                await found.look(self._client, self._clock)
        return not found.has_gone(pods)

    def _forget_namespaces(self, now: float) -> None:
        for name in [name for name, one in self._namespaces.items() if one.is_forgotten(now)]:
            del self._namespaces[name]


class _Namespace:
    """The deleted Jobs of a namespace, and what the lists said of their pods."""

    def __init__(self, name: str, now: float) -> None:
        self._name = name
        self.lock = asyncio.Lock()
        self._asked: dict[Pods, float] = {}
        """When each was asked about last."""
        self._listed_at = now
        self._gone: set[Pods] = set()
        """Those of which a list found none. Their Job is gone, so no more are created."""

    def ask(self, pods: Pods, now: float) -> bool:
        """Note a question; False if it is the first about these pods."""
        known = pods in self._asked
        self._asked[pods] = now
        return known

    def is_fresh(self, now: float) -> bool:
        return 0 <= now - self._listed_at < AGAIN_S

    def is_forgotten(self, now: float) -> bool:
        """Say whether nobody asked about any of its Jobs lately, and no list is under way."""
        asked_lately = any(now - at < FORGOTTEN_S for at in self._asked.values())
        return not (asked_lately or self.lock.locked())

    def has_gone(self, pods: Pods) -> bool:
        return pods in self._gone

    async def look(self, client: Client, clock: Clock) -> None:
        """List the pods of all Jobs that were asked about lately. Raises KubeError."""
        now = clock.now()
        self._asked = {one: at for one, at in self._asked.items() if now - at < FORGOTTEN_S}
        self._gone &= self._asked.keys()
        sought = [one for one in self._asked if one not in self._gone]
        by_label: dict[str, set[str]] = {}
        for one in sought:
            label, value = one.label
            by_label.setdefault(label, set()).add(value)
        remaining: set[Pods] = set()
        for label, values in sorted(by_label.items()):
            ordered = sorted(values)
            for start in range(0, len(ordered), _TOGETHER):
                remaining |= await self._list(client, label, ordered[start : start + _TOGETHER])
        self._gone |= set(sought) - remaining
        self._listed_at = clock.now()

    async def _list(self, client: Client, label: str, values: Iterable[str]) -> set[Pods]:
        """Return whose pods have not ended, of the pods with a label of these values."""
        return {
            owner
            for pod in await labelled_pods(client, self._name, (label, values), Pod)
            if not pod.status.is_terminal
            for owner in _belongs_to(pod)
        }


def _belongs_to(pod: Pod) -> Iterator[Pods]:
    meta = pod.metadata
    for owner in meta.owner_references:
        if owner.controller:
            yield JobPods(Uid(owner.uid))
            for name in (SLICE_NAME, POD_WORKLOAD):
                yield PodSetPods(meta.annotations.get(name, ""), meta.labels.get(POD_SET, ""))
