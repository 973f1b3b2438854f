"""Finds out whether pods of deleted Jobs still run.

A Job that is deleted with background propagation, the default of kubectl, is gone at once. The
garbage collector deletes its pods afterwards, and each may take its grace period to end; until then
they use what the quota was reserved for. There is no Job any more whose status would count them, so
the pods are listed.
"""

import asyncio
from collections.abc import Iterable

from queueing.clock import Clock
from queueing.controller.job_pods import pods_of
from queueing.core.names import Uid
from queueing.kube.client import Client
from queueing.translate.checkpoints.wire import Pod

AGAIN_S = 1.0
"""Seconds for which the result of a list is used, and between two questions about a Job."""
FORGOTTEN_S = 60.0
"""Seconds without a question after which the pods of a Job are listed no longer."""
_TOGETHER = 50
"""Jobs per request: their uids are part of the URL."""


class DepartingPods:
    """Asked by the reconciler of Workloads before the quota of a deleted Job is released.

    One list serves all Jobs of a namespace that are asked about, so that a thousand Jobs that are
    deleted together cost twenty requests per second.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._namespaces: dict[str, _Namespace] = {}

    async def remain(self, namespace: str, job: Uid) -> bool:
        """Say whether a deleted Job has pods that have not ended.

        The first question about a Job is always answered with True; it is listed with the next.
        Pods that do not name a Job as their owner any more were orphaned on purpose
        (`--cascade=orphan`) and do not count. Raises KubeError.
        """
        now = self._clock.now()
        found = self._namespaces.get(namespace)
        if found is None:
            found = self._namespaces[namespace] = _Namespace(namespace, now)
        if not found.ask(job, now):
            return True
        async with found.lock:
            if not found.is_fresh(self._clock.now()):
                await found.look(self._client, self._clock)
        remain = found.has_pods(job)
        if not remain:
            found.forget(job)
            if not found:
                self._namespaces.pop(namespace, None)
        return remain


class _Namespace:
    """The deleted Jobs of a namespace, and what the last list said of them."""

    def __init__(self, name: str, now: float) -> None:
        self._name = name
        self.lock = asyncio.Lock()
        self._asked: dict[Uid, float] = {}
        """By uid of the Job: when it was asked about last."""
        self._listed_at = now
        self._listed: frozenset[Uid] = frozenset()
        """The Jobs whose pods were listed last."""
        self._with_pods: frozenset[Uid] = frozenset()

    def __len__(self) -> int:
        return len(self._asked)

    def ask(self, job: Uid, now: float) -> bool:
        """Note a question about a Job; False if it is the first."""
        known = job in self._asked
        self._asked[job] = now
        return known

    def is_fresh(self, now: float) -> bool:
        return 0 <= now - self._listed_at < AGAIN_S

    def has_pods(self, job: Uid) -> bool:
        return job not in self._listed or job in self._with_pods

    def forget(self, job: Uid) -> None:
        self._asked.pop(job, None)

    async def look(self, client: Client, clock: Clock) -> None:
        """List the pods of all Jobs that were asked about lately. Raises KubeError."""
        now = clock.now()
        self._asked = {one: at for one, at in self._asked.items() if now - at < FORGOTTEN_S}
        jobs = sorted(self._asked)
        with_pods: set[Uid] = set()
        for start in range(0, len(jobs), _TOGETHER):
            with_pods |= await self._list(client, jobs[start : start + _TOGETHER])
        self._listed, self._with_pods = frozenset(jobs), frozenset(with_pods)
        self._listed_at = clock.now()

    async def _list(self, client: Client, jobs: Iterable[Uid]) -> set[Uid]:
        return {
            Uid(owner.uid)
            for pod in await pods_of(client, self._name, jobs, Pod)
            if not pod.status.is_terminal
            for owner in pod.metadata.owner_references
            if owner.controller
        }
