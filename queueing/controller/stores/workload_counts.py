"""Numbers of Workloads by queue and state, for metrics; updated with each change of a Workload.

Invariant: the counts are the sums over the Workloads that were put and not dropped since, each by
its newest version.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName, ResourceName

_K = TypeVar("_K")

RELEASES_MAX = 10_000
"""Releases remembered until `take_releases`, which nobody calls before the term has synced."""


class Where(NamedTuple):
    """The queues that a Workload is counted for; without an admission the ClusterQueue is ""."""

    local_queue: Key | None
    cluster_queue: QueueName


class Unadmitted(NamedTuple):
    """Why a Workload is not admitted: the reason of `Admitted`, and without quota the cause."""

    where: Where
    reason: str
    cause: str


class EndedEviction(NamedTuple):
    """An eviction that ended; `took_s` is from its condition to the release of quota."""

    cluster_queue: QueueName
    reason: str
    took_s: float


@dataclass(frozen=True, slots=True)
class _Stand:
    finished: Where | None = None
    unadmitted: Unadmitted | None = None
    asks: Mapping[ResourceName, int] = field(default_factory=dict)
    """Requests of all its pods together, while it waits for quota."""
    evicting: tuple[QueueName, str, float] | None = None
    """While it is evicted and still holds quota: the ClusterQueue, the reason, and since when."""


@dataclass(slots=True)
class WorkloadCounts:
    """Finished and unadmitted Workloads, what these request, and evictions that ended."""

    finished: Counter[Where] = field(default_factory=Counter)
    unadmitted: Counter[Unadmitted] = field(default_factory=Counter)
    asked: Counter[tuple[Where, ResourceName]] = field(default_factory=Counter)
    releases: list[EndedEviction] = field(default_factory=list)
    changed: bool = True
    """Whether a count changed since a reader last set this to False."""
    _stands: dict[Key, _Stand] = field(default_factory=dict)

    def put(self, fact: WorkloadFact) -> None:
        """Count a Workload by its new fact, and no longer by its last one."""
        key = fact.key
        before = self._stands.get(key)
        stand = _stand_of(fact)
        if stand == before:
            return
        self.changed = True
        if before is not None:
            self._count(before, -1)
            if before.evicting is not None and stand.evicting is None:
                self._note_release(*before.evicting, fact)
        self._stands[key] = stand
        self._count(stand, 1)

    def drop(self, key: Key) -> None:
        """Count a deleted Workload no longer."""
        stand = self._stands.pop(key, None)
        if stand is not None:
            self.changed = True
            self._count(stand, -1)

    def take_releases(self) -> list[EndedEviction]:
        """Return the evictions that released quota since the last call."""
        taken, self.releases = self.releases, []
        return taken

    def _count(self, stand: _Stand, number: int) -> None:
        if stand.finished is not None:
            _add(self.finished, stand.finished, number)
        if stand.unadmitted is not None:
            _add(self.unadmitted, stand.unadmitted, number)
            for resource, amount in stand.asks.items():
                _add(self.asked, (stand.unadmitted.where, resource), number * amount)

    def _note_release(
        self, queue: QueueName, reason: str, since: float, fact: WorkloadFact
    ) -> None:
        released = fact.conditions.get("QuotaReserved")
        if released is None or released.status or len(self.releases) >= RELEASES_MAX:
            return
        self.releases.append(EndedEviction(queue, reason, max(released.changed - since, 0.0)))


def _stand_of(fact: WorkloadFact) -> _Stand:
    queue = fact.admission.cluster_queue if fact.admission is not None else QueueName("")
    where = Where(fact.local_queue, queue)
    if fact.finished:  # of a variant, its parent is counted
        return _Stand(finished=None if fact.variant is not None else where)
    reserved = fact.conditions.get("QuotaReserved")
    if reserved is not None and reserved.status:
        evicted = fact.conditions.get("Evicted")
        evicting = None
        if evicted is not None and evicted.status:
            evicting = (queue, evicted.reason, evicted.changed)
        if fact.admitted:
            return _Stand(evicting=evicting)
        reason = Unadmitted(where, "UnsatisfiedAdmissionChecks", "")
        return _Stand(unadmitted=reason, evicting=evicting)
    cause = reserved.reason if reserved is not None else "PendingEvaluation"
    return _Stand(unadmitted=Unadmitted(where, "NoReservation", cause), asks=_asks(fact))


def _asks(fact: WorkloadFact) -> dict[ResourceName, int]:
    asks: Counter[ResourceName] = Counter()
    for pod_set in fact.pod_sets:
        for resource, amount in pod_set.requests.items():
            asks[resource] += amount * pod_set.count
    return dict(asks)


def _add(counts: Counter[_K], key: _K, number: int) -> None:
    counts[key] += number
    if not counts[key]:
        del counts[key]
