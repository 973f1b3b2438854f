"""Checkpoints, their policies and the pods that are asked, as they were last seen.

Plain memory: filled by the intake of checkpoints, read by whoever stops or starts work.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from queueing.controller.stores.indexes import Index
from queueing.core.checkpoints.interruptions import Interruption
from queueing.core.checkpoints.record import Record, Saved
from queueing.core.checkpoints.terms import USUAL_DRIVERS, Driver
from queueing.core.names import Key
from queueing.translate.checkpoints.wire import CheckpointPolicy, Pod
from queueing.translate.wire.meta import Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCheckpoint:
    """A Checkpoint."""

    meta: Meta
    workload: Key
    workload_uid: str
    policy: str
    record: Record


@dataclass(slots=True)
class CheckpointMemory:
    """All of them, by key; Checkpoints also by Workload and by the Jobs that they belong to."""

    drivers: frozenset[Driver] = USUAL_DRIVERS
    """What the operator allows."""
    policies: dict[Key, CheckpointPolicy] = field(default_factory=dict)
    pods: dict[Key, Pod] = field(default_factory=dict)
    """Pods that carry the label of a request."""
    preemptors: dict[str, Key] = field(default_factory=dict)
    """Where the Workload of a uid was, for those that somebody makes room for."""
    said: dict[Key, bytes] = field(default_factory=dict)
    """What pods that are asked over HTTP answered last."""
    nodes: dict[str, Interruption | None] = field(default_factory=dict)
    """All nodes, with the end of those that go away."""
    unreadable: dict[Key, None] = field(default_factory=dict)
    """Checkpoints that mean nothing: whoever they speak of is stopped without."""
    _seen: dict[Key, SeenCheckpoint] = field(default_factory=dict)
    _by_workload: Index[Key] = field(default_factory=Index)
    _by_job: Index[str] = field(default_factory=Index)
    _open: dict[Key, None] = field(default_factory=dict)

    def put(self, seen: SeenCheckpoint) -> None:
        """Replace a Checkpoint."""
        key = seen.meta.key
        self.drop(key)
        self._seen[key] = seen
        self._by_workload.add(seen.workload, key)
        for owner in seen.meta.owner_references:
            self._by_job.add(owner.uid, key)
        if seen.record.is_open:
            self._open[key] = None

    def drop(self, key: Key) -> None:
        """Forget a Checkpoint."""
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
        """Return the Checkpoints of one life of a Workload, the oldest request first."""
        found = (self._seen[one] for one in self._by_workload[key])
        mine = [one for one in found if one.workload_uid == uid]
        return sorted(mine, key=lambda one: one.record.request.epoch)

    def newest(self, key: Key, uid: str) -> SeenCheckpoint | None:
        """Return the last request to one life of a Workload."""
        return next(reversed(self.of_workload(key, uid)), None)

    def open_requests(self, key: Key) -> list[SeenCheckpoint]:
        """Return the requests to a Workload of any life that are not over."""
        return [self._seen[one] for one in self._by_workload[key] if one in self._open]

    def asked_of_job(self, uid: str) -> Iterator[Key]:
        """Return the Workloads of a Job with a request that is not over."""
        if self._open:
            yield from (self._seen[one].workload for one in self._by_job[uid] if one in self._open)

    def open_workloads(self) -> Iterator[Key]:
        """Return the Workloads with a request that is not over."""
        yield from (self._seen[one].workload for one in self._open)

    def open_seen(self) -> Iterator[SeenCheckpoint]:
        """Return the requests that are not over."""
        yield from (self._seen[one] for one in self._open)

    def spared_for(self, preemptor: str) -> int:
        """Count the victims that one preemptor did not get, because they could not save."""
        return sum(
            1
            for one in self._seen.values()
            if one.record.request.cause.preemptor == preemptor
            and one.record.phase == "Cancelled"
            and one.record.outcome in {"Unresponsive", "Failed"}
        )

    def last_saved(self, job_uid: str) -> Saved | None:
        """Return the newest work that was saved for a Job."""
        found = [
            one.record.saved
            for one in (self._seen[key] for key in self._by_job[job_uid])
            if one.record.saved is not None
        ]
        return max(found, key=lambda one: one.at or 0.0, default=None)
