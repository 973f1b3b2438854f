"""Checkpoints, CheckpointPolicies, and the pods that are asked to save, as they were last seen.

Plain memory: `shell.intake` fills it; those who start and stop Jobs read it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from queueing.checkpoints.rules.interruptions import Interruption
from queueing.checkpoints.rules.record import Record, Saved
from queueing.checkpoints.rules.terms import USUAL_DRIVERS, Driver
from queueing.checkpoints.wire.objects import CheckpointPolicy, Pod
from queueing.controller.stores.indexes import Index
from queueing.core.names import Key
from queueing.translate.wire.meta import Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCheckpoint:
    """A Checkpoint object: a request to save, and how far it is."""

    meta: Meta
    workload: Key
    """The Workload that is asked to save."""
    workload_uid: str
    policy: str
    """The CheckpointPolicy (`namespace/name`) whose terms hold."""
    record: Record


@dataclass(slots=True)
class CheckpointMemory:
    """Checkpoints by key, by Workload, and by the uid of the Jobs that own them; and the rest."""

    drivers: frozenset[Driver] = USUAL_DRIVERS
    """The ways to ask pods that the operator allows."""
    policies: dict[Key, CheckpointPolicy] = field(default_factory=dict)
    pods: dict[Key, Pod] = field(default_factory=dict)
    """Pods that carry the label of a request."""
    preemptors: dict[str, Key] = field(default_factory=dict)
    """By uid: the key of each preemptor that was looked up for a victim with a request."""
    said: dict[Key, bytes] = field(default_factory=dict)
    """The last answer, as JSON, of pods and hook Jobs that are called: drivers HTTP, Exec, Job."""
    nodes: dict[str, Interruption | None] = field(default_factory=dict)
    """All nodes by name; with the interruption of those that will go away."""
    unreadable: dict[Key, None] = field(default_factory=dict)
    """Checkpoints that cannot be understood; their Workloads are stopped without a request."""
    _seen: dict[Key, SeenCheckpoint] = field(default_factory=dict)
    _by_workload: Index[Key] = field(default_factory=Index)
    _by_job: Index[str] = field(default_factory=Index)
    _open: dict[Key, None] = field(default_factory=dict)

    def put(self, seen: SeenCheckpoint) -> None:
        """Store a Checkpoint in place of the one seen before."""
        key = seen.meta.key
        self.drop(key)
        self._seen[key] = seen
        self._by_workload.add(seen.workload, key)
        for owner in seen.meta.owner_references:
            self._by_job.add(owner.uid, key)
        if seen.record.is_open:
            self._open[key] = None

    def drop(self, key: Key) -> None:
        """Forget a Checkpoint, readable or not."""
        self.unreadable.pop(key, None)
        seen = self._seen.pop(key, None)
        if seen is None:
            return
        self._open.pop(key, None)
        self._by_workload.drop(seen.workload, key)
        for owner in seen.meta.owner_references:
            self._by_job.drop(owner.uid, key)

    def get(self, key: Key) -> SeenCheckpoint | None:
        return self._seen.get(key)

    def of_workload(self, key: Key, uid: str) -> list[SeenCheckpoint]:
        """Return the Checkpoints of the Workload with this key and uid, oldest request first."""
        found = (self._seen[one] for one in self._by_workload[key])
        mine = [one for one in found if one.workload_uid == uid]
        return sorted(mine, key=lambda one: one.record.request.epoch)

    def newest(self, key: Key, uid: str) -> SeenCheckpoint | None:
        """Return the last request to the Workload with this key and uid; None without one."""
        return next(reversed(self.of_workload(key, uid)), None)

    def open_requests(self, key: Key) -> list[SeenCheckpoint]:
        """Return the open requests to Workloads with this key, deleted ones of the name too."""
        return [self._seen[one] for one in self._by_workload[key] if one in self._open]

    def asked_of_job(self, uid: str) -> Iterator[Key]:
        """Yield the Workloads of a Job, given by uid, that have an open request."""
        if self._open:
            yield from (self._seen[one].workload for one in self._by_job[uid] if one in self._open)

    def open_workloads(self) -> Iterator[Key]:
        """Yield the Workload of each open request."""
        yield from (self._seen[one].workload for one in self._open)

    def open_seen(self) -> Iterator[SeenCheckpoint]:
        """Yield the open requests."""
        yield from (self._seen[one] for one in self._open)

    def spared_for(self, preemptor: str) -> int:
        """Count the victims of one preemptor (a uid) that stayed because they could not save.

        Terms with `onFailure: TryOtherVictim` bound this number.
        """
        return sum(
            1
            for one in self._seen.values()
            if one.record.request.cause.preemptor == preemptor
            and one.record.phase == "Cancelled"
            and one.record.outcome in {"Unresponsive", "Failed"}
        )

    def last_saved(self, job_uid: str) -> Saved | None:
        """Return the newest checkpoint that was saved for a Job, given by uid; None without one."""
        found = [
            one.record.saved
            for one in (self._seen[key] for key in self._by_job[job_uid])
            if one.record.saved is not None
        ]
        return max(found, key=lambda one: one.at or 0.0, default=None)
